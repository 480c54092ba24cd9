import type { Side } from './field-table.ts'

/** Metadata fields of both sides as those of one side alone, selected by `direction`: for a host that opens each side by itself. */
export function oneSide<Value>(properties: Readonly<Record<string, Value>>, side: Side): Record<string, Value | Side> {
  const others = Object.entries(properties).filter(([name]) => name.toLowerCase() !== 'direction')
  return { ...Object.fromEntries(others), direction: side }
}
