// What to do on the emulator about a refusal. It stands at the end of the message, after Azure's own words.

/** Azure's message, and what to do on the emulator after it. */
export const withAdvice = (message: string, advice: string) => `${message} Emulator: ${advice}.`

const configuration = 'its configuration (--config FILE, read again when it changes)'

/** The program prints what its user needs. Whoever starts the emulator in code has the same as its members. */
export const advice = {
  client: `it prints its clients with tenant and secret at its start; or add this client to clients in ${configuration}`,
  assertion: 'emulator.assertion(clientId), or POST /emulator/assertions, gives one that it takes for an hour',
  role: (role: string, clientId: string) =>
    `add the role to the roles of the client in ${configuration}: clients: [{ clientId: ${clientId}, roles: [${role}] }]`,
  provider: (subscriptionId: string) =>
    `set registered in ${configuration}: subscriptions: [{ id: ${subscriptionId}, registered: true }]`,
  scope:
    'it prints the scope of each topic at its start, and emulator.topic(NAME).id is it in code; or add the resource to ' +
    `topics, namespaces or subscriptions in ${configuration}`,
  key: `it prints the keys at its start; or set keys in ${configuration}`,
  topic: `it prints the endpoint of each topic at its start; or add the topic in ${configuration}`,
  namespace: `it prints the endpoint of each namespace at its start; or add the namespace in ${configuration}`,
} as const
