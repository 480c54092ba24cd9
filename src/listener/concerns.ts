/** What the operator should hear of. `foreign`: our event subscription seems to carry another credential than ours. */
export type Concern =
  | 'foreign'
  | 'unauthorized'
  | 'otherSender'
  | 'unavailable'
  | 'otherSubscription'
  | 'otherOrigin'
  | 'otherPath'
  | 'otherMethod'
  | 'otherVersion'
  | 'unreadable'
  | 'noHandler'
  | 'noRoom'
  | 'subscriptionDeleted'

/** One sentence of the log for each. */
export const concerns: Readonly<Record<Concern, string>> = {
  foreign:
    'a delivery names our event subscription but carries no credential that is known here; the event subscription will be read again',
  unauthorized: 'a delivery was refused: its credential is missing or wrong',
  otherSender:
    'events of another event subscription were refused, and Event Grid does not send them again: it delivers to this endpoint too, with no credential that is known here',
  unavailable: 'a delivery was put off: the keys to check its token with can not be fetched',
  otherSubscription: 'a validation request for another event subscription was refused',
  otherOrigin: 'a handshake was not granted: its origin is not Event Grid of the configured cloud',
  otherPath: 'a request was refused: its path is neither /api/events nor that of subscriberEndpoint',
  otherMethod: 'a request was refused: its method is neither POST nor OPTIONS',
  otherVersion: 'a request was refused: it is not of HTTP/1.1',
  unreadable: 'a request was refused: its body can not be read',
  noHandler: 'a delivery was put off: no application takes events at the moment',
  noRoom: 'a delivery was put off: too many bodies are on their way at once',
  subscriptionDeleted:
    'Event Grid says that the event subscription was deleted: no more events will come until it is created again',
}

/** What any scanner or probe may cause. */
export const harmless: ReadonlySet<Concern> = new Set<Concern>(['otherPath', 'otherMethod', 'otherVersion'])
