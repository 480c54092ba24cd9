/** Secrets that nothing else looks like, so that each is found wherever it turns up. */
export const marks = {
  clientSecret: 'marked-client-secret-6f1c',
  deliveryToken: 'marked-delivery-token-that-is-long-enough-93ab',
  accessKey: Buffer.from('marked-access-key-0d52-of-thirty-two').toString('base64'),
  otherKey: Buffer.from('marked-second-key-77e0-of-thirty-two').toString('base64'),
  query: 'marked-query-b4d8',
  bearer: 'marked.bearer.token-2c9e',
} as const
