return { key: msg.payload.key, payload: msg.payload.values, model: flow.get('card') };
