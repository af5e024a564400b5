const { load, load_probabilities: probabilities } = msg.payload;
return {
  payload: {
    key: msg.key,
    load,
    probability: probabilities[load],
    model: msg.model.fitted_train_set_id,
    scorer: env.get('SCORER') || 'unnamed',
  },
};
