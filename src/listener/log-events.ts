/** What the operator should learn from the log about a request. `foreign`: our event subscription seems to carry another credential. */
export type LogEvent =
  | 'foreign'
  | 'unauthorized'
  | 'otherSender'
  | 'unavailable'
  | 'otherSubscription'
  | 'otherOrigin'
  | 'otherPath'
  | 'otherMethod'
  | 'unreadable'
  | 'noHandler'
  | 'noRoom'
  | 'subscriptionDeleted'

/** The line of the log for each, and its level. `info`: any scanner or probe may cause it. */
export const logEvents: Readonly<Record<LogEvent, { readonly level: 'warn' | 'info'; readonly message: string }>> = {
  foreign: {
    level: 'warn',
    message:
      'put off a delivery: it names our event subscription but carries no known credential; reading the event subscription again',
  },
  unauthorized: { level: 'warn', message: 'refused a delivery: its credential is missing or wrong' },
  otherSender: {
    level: 'warn',
    message:
      'refused events of another event subscription, which delivers here with no known credential: Event Grid does not send them again',
  },
  unavailable: { level: 'warn', message: 'put off a delivery: the keys to check its token with cannot be fetched' },
  otherSubscription: { level: 'warn', message: 'refused a validation request for another event subscription' },
  otherOrigin: {
    level: 'warn',
    message: 'did not consent to a handshake: its origin is not Event Grid of the configured cloud',
  },
  otherPath: {
    level: 'info',
    message: 'refused a request: its path is neither /api/events nor the path of subscriberEndpoint',
  },
  otherMethod: { level: 'info', message: 'refused a request: its method is neither POST nor OPTIONS' },
  unreadable: { level: 'warn', message: 'refused a request: its body cannot be read' },
  noHandler: { level: 'warn', message: 'put off a delivery: no application takes events at the moment' },
  noRoom: { level: 'warn', message: 'put off a request: too many bodies are arriving at once' },
  subscriptionDeleted: {
    level: 'warn',
    message: 'Event Grid says that the event subscription was deleted: no events come until it is created again',
  },
}
