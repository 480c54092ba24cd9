/** A side that is open, with the component that it is of, and what it is opened with. */

import type { Side } from '../../core/component.ts'
import type { Logger } from '../../core/logger.ts'
import type { ParsedMetadata } from '../../metadata/typed/metadata.ts'
import type { MetadataProperties } from '../../metadata/typed/read-properties.ts'
import { secretsOf } from '../../metadata/typed/secrets-of.ts'
import { changedFields } from '../changed-fields.ts'
import { locatingLogger } from '../locate-failure.ts'
import type { SideOptions } from '../side-options.ts'

/** A component whose metadata has been parsed. */
export interface ParsedComponent {
  readonly name: string | undefined
  readonly metadata: ParsedMetadata
  /** What the metadata were parsed from. */
  readonly properties: MetadataProperties
  /** What the metadata came from: a component of `parseComponents` tells the places of its values. */
  readonly source?: unknown
}

/** Its component is replaced by one with the same metadata, as the places of these may have moved. */
export interface OpenedSide<S> {
  readonly side: S
  readonly of: { component: ParsedComponent }
}

/** The options of a side, from those that the sides of its component share: `secrets` of these are those of the open sides. */
export function optionsOf(side: Side, of: OpenedSide<unknown>['of'], shared: SideOptions): SideOptions {
  const { component } = of
  return {
    ...shared,
    logger: locatingLogger(shared.logger, () => of.component.source, side),
    secrets: () => [...secretsOf(component.metadata), ...(shared.secrets?.() ?? [])],
  }
}

/** Says which fields make a side that is open start anew, or end. */
export function logChange(side: Side, before: ParsedComponent, next: ParsedComponent, logger: Logger): void {
  const { input, pull, output } = next.metadata
  const goesOn = side === 'input' ? (input ?? pull) : output
  const what = goesOn ? 'starts anew' : 'ends'
  logger.info(`${changedFields(before.properties, next.properties)} changed: the ${side} side ${what}`)
}
