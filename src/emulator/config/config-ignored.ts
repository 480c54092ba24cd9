import { isRecord } from '../../support/is-record.ts'
import type { YamlPath } from '../../support/located-yaml.ts'
import { nearestName } from '../../support/nearest-name.ts'
import { settingNames } from '../arm/validation.ts'

/**
 * A field that Resource Manager does not know and silently ignores. In a configuration file it is a typo.
 */
export interface IgnoredField {
  /** The path of the mapping that has it. */
  readonly path: YamlPath
  readonly name: string
  readonly rule: string
}

/** Finds the given fields that parsing dropped. */
export function* ignoredFields(given: unknown, parsed: unknown, path: YamlPath = []): Generator<IgnoredField> {
  if (Array.isArray(given) && Array.isArray(parsed)) {
    for (const [index, item] of given.entries()) yield* ignoredFields(item, parsed[index], [...path, index])
  }
  if (!isRecord(given) || !isRecord(parsed)) return
  for (const [name, value] of Object.entries(given)) {
    if (Object.hasOwn(parsed, name)) yield* ignoredFields(value, parsed[name], [...path, name])
    else if (value !== null) {
      const meant = nearestName(name, settingNames())
      yield { path, name, rule: `is not a field of Event Grid${meant === undefined ? '' : `; did you mean ${meant}?`}` }
    }
  }
}
