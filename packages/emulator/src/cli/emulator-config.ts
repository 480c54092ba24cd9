/** How the configuration file of `emulate` is read, and which changed fields take effect at the next start only. */
import { dirname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { UsageError } from '../../../../src/support/command-line/options.ts'
import { readText, textOrError } from '../../../../src/support/files/regular-file.ts'
import { EmulatorConfigError, type ParsedConfig, parseConfig } from '../config/config.ts'

/** A configuration file, read; paths in it are taken from where it lies. */
export interface LoadedConfig extends ParsedConfig {
  readonly file: string
  readonly text: string
}

/** Reads a configuration file. Throws a UsageError that names everything that is wrong with it. */
export function loadConfig(file: string): LoadedConfig {
  try {
    return readConfig(file, textOrError(file))
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof Error)) throw error
    // A package that the configuration needs is missing.
    throw new UsageError(`${file} ${error.message}`, { cause: error })
  }
}

/** Reads the text of a configuration file. Throws a UsageError, also where `text` is the Error of reading the file. */
export function readConfig(file: string, text: string | Error): LoadedConfig {
  if (text instanceof Error) throw new UsageError(`${file} ${text.message}`, { cause: text })
  const folder = dirname(resolve(file))
  const readFile = (path: string) => readText(resolve(folder, path))
  const excerptWidth = process.stderr.columns || 120
  try {
    const { config, options } = parseConfig(text, { file, now: Date.now(), excerptWidth, readFile })
    const state = options.state === undefined ? {} : { state: resolve(folder, options.state) }
    return { file, text, config, options: { ...options, ...state } }
  } catch (error) {
    if (!(error instanceof EmulatorConfigError)) throw error
    const { length } = error.problems
    const faults = length === 1 ? 'a fault' : `${length} faults`
    throw new UsageError(`${file} has ${faults}:\n${error.message}`, { cause: error })
  }
}

const reloaded: ReadonlySet<string> = new Set<keyof ParsedConfig['config']>([
  'tenantId',
  'subscriptionId',
  'resourceGroup',
  'clients',
  'subscriptions',
  'deliver',
  'topics',
  'domains',
  'systemTopics',
  'namespaces',
  'eventSubscriptions',
  'ingress',
])

/** The fields that differ and take effect at the next start only. */
export function fieldsForRestart(before: ParsedConfig['config'], after: ParsedConfig['config']): string[] {
  const [old, fresh] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  const names = Object.keys({ ...before, ...after })
  return names.filter((name) => !reloaded.has(name) && !isDeepStrictEqual(old.get(name), fresh.get(name)))
}
