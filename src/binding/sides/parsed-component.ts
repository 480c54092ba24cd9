/** A component whose metadata are parsed: what its sides are opened with, and what the log says where an update changes them. */

import type { Side } from '../../core/component.ts'
import type { Logger } from '../../core/logger.ts'
import { Secret } from '../../core/secret.ts'
import { type ParsedMetadata, secretsOf } from '../../metadata/typed/metadata.ts'
import type { MetadataProperties } from '../../metadata/typed/read-properties.ts'
import { isRecord } from '../../support/text/json-text.ts'
import { oneLine } from '../../support/text/text.ts'
import { locatingLogger } from '../locate-failure.ts'
import type { SideOptions } from '../side-options.ts'

export interface ParsedComponent {
  readonly name: string | undefined
  readonly metadata: ParsedMetadata
  /** A copy of what the metadata were parsed from: the caller may change its own. */
  readonly properties: MetadataProperties
  /** What the metadata came from: a component of `parseComponents` tells the places of its values. */
  readonly source?: unknown
}

/** A side that is open, or was. Its component is replaced by one with the same metadata, as the places of these may have moved. */
export interface OpenedSide<S> {
  readonly side: S
  readonly origin: { component: ParsedComponent }
}

/** The options of a side, from those that the sides of its component share: `secrets` of these are those of the open sides. */
export function optionsOf(side: Side, origin: OpenedSide<unknown>['origin'], shared: SideOptions): SideOptions {
  const { component } = origin
  return {
    ...shared,
    logger: locatingLogger(shared.logger, () => origin.component.source, side),
    secrets: () => [...secretsOf(component.metadata), ...(shared.secrets?.() ?? [])],
  }
}

/** Says which fields make a side that is open start anew, or end. */
export function logChange(side: Side, before: ParsedComponent, next: ParsedComponent, logger: Logger): void {
  const { push, pull, output } = next.metadata
  const goesOn = side === 'input' ? (push ?? pull) : output
  const what = goesOn ? 'starts anew' : 'ends'
  logger.info(`${changedFields(before, next)} changed: the ${side} side ${what}`)
}

/** Longest list of names, in characters. */
const maxNamed = 300

/** The names of the fields whose values differ, and `name` for the component's own. The values may be secrets, and stay unsaid. */
function changedFields(before: ParsedComponent, after: ParsedComponent): string {
  const [old, current] = [textsOf(before), textsOf(after)]
  const names = [...new Set([...old.keys(), ...current.keys()])].filter((name) => old.get(name) !== current.get(name))
  return oneLine(names.sort().join(', '), maxNamed)
}

function textsOf({ name, properties }: ParsedComponent): ReadonlyMap<string, string> {
  const entries = Array.isArray(properties)
    ? properties.filter(isRecord).map((entry) => [String(entry.name), entry.value] as const)
    : Object.entries(properties)
  const texts = entries.map(
    ([field, value]) => [field, JSON.stringify(value instanceof Secret ? value.reveal() : value) ?? ''] as const,
  )
  return new Map([['name', name ?? ''], ...texts])
}

/** A copy, of one level: values are texts, or secrets that never change. */
export const copyOf = (properties: MetadataProperties): MetadataProperties =>
  Array.isArray(properties) ? properties.map((entry) => (isRecord(entry) ? { ...entry } : entry)) : { ...properties }
