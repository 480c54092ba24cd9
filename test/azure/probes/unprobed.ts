/** Facts that are assumed, or in part, and have no probe: why none can be. */

/** The account of a run has a random name, and an emulator opens blob endpoints only for names that it is given at its start. */
const blobs =
  'the suite of the gate could not hold it: no emulator raises events of blobs for an account of a random name'

const brokers =
  'a run makes no namespace of Service Bus or Event Hubs, and an emulator delivers only to those that it is given at its start'

export const unprobed: Readonly<Record<string, string>> = {
  'blob-copy': blobs,
  'blob-append': blobs,
  'blob-delete-snapshots': blobs,
  'blob-delete-version': blobs,
  'blob-batch': blobs,
  'blob-container-deleted': blobs,
  'broker-message': brokers,
  'broker-properties': brokers,
  'broker-message-id': brokers,
  'broker-attributes': brokers,
  'broker-outcomes': brokers,
  'dead-letter-probation': 'an endpoint that is held back until a time to live has ended takes longer than a run has',
  'deletion-notice-once': 'Azure may try for a day, and a run does not wait so long for what may not come',
  'function-retries': 'a run has no function app: Azure asks for one that is there',
  'role-assignment-fixed': 'a run assigns one role for its storage account, and changes no assignment of others',
  'handshake-after-reset': 'a run has no endpoint in front of Azure that resets one connection',
}
