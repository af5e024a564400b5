// A machine is under high load when it is hot or shakes; 300 readings that say so.
msg.payload = Array.from({ length: 300 }, (_, i) => {
  const temperature = 20 + ((i * 37) % 80);
  const vibration = ((i * 53) % 60) / 10;
  return {
    temperature,
    vibration,
    material: ['steel', 'brass', 'oak'][i % 3],
    load: temperature + 5 * vibration > 75 ? 'high' : 'normal',
  };
});
return msg;
