// Which fields Event Grid adds to an event that it dead-letters; they are no part of the event.

/** In lower case, as a CloudEvent has them; in the Event Grid schema they are `deadLetterReason` and so on (dead-letter schema). */
export const deadLetterFields: ReadonlySet<string> = new Set([
  'deadletterreason',
  'deliveryattempts',
  'lastdeliveryoutcome',
  'publishtime',
  'lastdeliveryattempttime',
  'lasthttpstatuscode',
])

/** Whether this event is a dead letter as Azure writes it. */
export const isDeadLetter = (event: object): boolean =>
  Object.hasOwn(event, 'deadLetterReason') || Object.hasOwn(event, 'deadletterreason')
