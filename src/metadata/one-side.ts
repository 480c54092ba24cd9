import type { Side } from './fields.ts'
import { carryPositions } from './positions.ts'

/** Metadata fields of both sides as those of one alone, which `direction` says (dapr-facts): for a host that sets up each side by itself. */
export function oneSide<Value>(properties: Readonly<Record<string, Value>>, side: Side): Record<string, Value | Side> {
  const others = Object.entries(properties).filter(([name]) => name.toLowerCase() !== 'direction')
  const sided = { ...Object.fromEntries(others), direction: side }
  carryPositions(properties, sided)
  return sided
}
