return { payload: { key: msg.key, code: msg.error.code, message: msg.error.message } };
