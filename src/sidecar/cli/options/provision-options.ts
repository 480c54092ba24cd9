// Options of `provision` parsed, and which of them need each other.
import { componentOptions, readComponentOptions } from '../files/checked-components.ts'
import { wrongOption } from '../usage-error.ts'
import { readDuration } from './duration-option.ts'
import { emulatorOptions, readEmulatorOptions, withEmulatorUrl } from './emulator-option.ts'
import { flag, parseOptions, text } from './parse-options.ts'

const known = {
  ...componentOptions,
  ...emulatorOptions,
  'dry-run': flag,
  'show-token': flag,
  wait: text,
  json: flag,
} as const

export type ProvisionCommandOptions = ReturnType<typeof readProvisionOptions>

/** Reads the options of `provision`. Throws a UsageError. */
export function readProvisionOptions(args: readonly string[]) {
  const values = parseOptions(withEmulatorUrl(args), known)
  const { 'dry-run': dryRun = false, 'show-token': showToken = false, json = false } = values
  if (showToken && values.component === undefined) throw wrongOption('--show-token needs --component')
  if (showToken && dryRun) throw wrongOption('--show-token writes nothing: leave --dry-run out')
  return {
    ...readComponentOptions(values),
    ...{ dryRun, showToken, json },
    emulator: readEmulatorOptions(values),
    /** `undefined`: `subscriptionTimeout` of each component. */
    waitMs: readDuration('wait', values.wait),
  }
}
