/** What the product itself does. */
import type { Probe } from '../probes/probe.ts'

export const productProbes: readonly Probe[] = []
