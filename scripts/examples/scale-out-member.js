// Takes part in the stream as soon as a model card is here, and until told to leave.
const subscription = '$share/scorers/machines/readings';
if (msg.topic === 'join') {
  context.set('member', true);
} else if (msg.topic === 'leave') {
  context.set('member', false);
} else {
  flow.set('card', msg.payload);
}

const wanted = context.get('member') && flow.get('card') !== undefined;
node.status({ text: wanted ? 'scoring' : context.get('member') ? 'waits for a model' : 'left' });
if (wanted === context.get('subscribed')) {
  return null;
}
context.set('subscribed', wanted);
return { action: wanted ? 'subscribe' : 'unsubscribe', topic: [{ topic: subscription, qos: 1 }] };
