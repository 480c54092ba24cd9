/** All probes, in the order of the report. */
import type { Probe } from './probe.ts'
import { armProbes } from './tables/arm.ts'
import { deadLetterProbes } from './tables/dead-letters.ts'
import { deliveryProbes } from './tables/deliveries.ts'
import { handshakeProbes } from './tables/handshakes.ts'
import { publishingProbes } from './tables/publishing.ts'
import { pullProbes } from './tables/pull.ts'
import { queueProbes } from './tables/queues.ts'
import { refusalProbes } from './tables/refusals.ts'

/** Those that wait for minutes come first, so that the rest runs beside them. */
export const allProbes: readonly Probe[] = [
  ...deadLetterProbes,
  ...deliveryProbes,
  ...pullProbes,
  ...queueProbes,
  ...handshakeProbes,
  ...armProbes,
  ...publishingProbes,
  ...refusalProbes,
]
