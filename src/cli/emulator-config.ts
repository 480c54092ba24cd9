import { dirname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { EmulatorConfigError, type ParsedConfig, parseConfig } from '../emulator/config/config.ts'
import { readText } from './read-text.ts'
import { UsageError } from './usage-error.ts'

/** A configuration file, read; paths in it are taken from where it lies. */
export interface LoadedConfig extends ParsedConfig {
  readonly file: string
  readonly text: string
}

/** Reads a configuration file. Throws a UsageError that names everything that is wrong with it. */
export function loadConfig(file: string): LoadedConfig {
  try {
    return readConfig(file, readText(file))
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof Error)) throw error
    throw new UsageError(`${file} ${error.message}`, { cause: error })
  }
}

/** Reads the text of a configuration file. Throws a UsageError that names everything that is wrong with it. */
export function readConfig(file: string, text: string): LoadedConfig {
  const folder = dirname(resolve(file))
  const readBeside = (path: string) => readText(resolve(folder, path))
  try {
    const { config, options } = parseConfig(text, {
      file,
      now: Date.now(),
      excerptWidth: process.stderr.columns || 120,
      readFile: readBeside,
    })
    const state = options.state === undefined ? {} : { state: resolve(folder, options.state) }
    return { file, text, config, options: { ...options, ...state } }
  } catch (error) {
    if (!(error instanceof EmulatorConfigError)) throw error
    const { length } = error.problems
    throw new UsageError(`${file} has ${length === 1 ? 'a fault' : `${length} faults`}:\n${error.message}`, {
      cause: error,
    })
  }
}

const reloaded: ReadonlySet<string> = new Set<keyof ParsedConfig['config']>([
  'tenantId',
  'subscriptionId',
  'resourceGroup',
  'clients',
  'subscriptions',
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
  const names = new Set([...old.keys(), ...fresh.keys()])
  return [...names].filter((name) => !reloaded.has(name) && !isDeepStrictEqual(old.get(name), fresh.get(name)))
}
