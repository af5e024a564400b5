// In production let a database do this: INSERT … ON CONFLICT (key) DO NOTHING. Here the newest 10,000 keys are kept.
const seen = context.get('seen') ?? new Set();
if (seen.has(msg.payload.key)) {
  return null;
}
seen.add(msg.payload.key);
if (seen.size > 10000) {
  seen.delete(seen.values().next().value);
}
context.set('seen', seen);
return msg;
