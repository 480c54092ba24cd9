import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Config, EmulatorConfigError, optionsOf, parseConfig } from '../emulator/config.ts'
import type { EventGridEmulatorOptions } from '../emulator/index.ts'
import { UsageError } from './usage-error.ts'

/** A configuration file, read. */
export interface LoadedConfig {
  readonly text: string
  readonly config: Config
}

/** Reads a configuration file. Throws a UsageError that names everything that is wrong with it. */
export function loadConfig(file: string): LoadedConfig {
  return readConfig(file, readText(file))
}

/** Reads the text of a configuration file. Throws a UsageError that names everything that is wrong with it. */
export function readConfig(file: string, text: string): LoadedConfig {
  try {
    return { text, config: parseConfig(text, file, Date.now()) }
  } catch (error) {
    if (!(error instanceof EmulatorConfigError)) throw error
    const { length } = error.problems
    throw new UsageError(`${file} has ${length === 1 ? 'a fault' : `${length} faults`}:\n${error.message}`, {
      cause: error,
    })
  }
}

/** The emulator's options; paths in the file are taken from where it lies. */
export function emulatorOptions(config: Config, file: string): EventGridEmulatorOptions {
  const folder = dirname(resolve(file))
  const certificates = (config.trustedCertificates ?? []).map((path) => readText(resolve(folder, path)))
  const state = config.state === undefined ? {} : { state: resolve(folder, config.state) }
  return { ...optionsOf(config, certificates), ...state }
}

/** What may change while the emulator runs. */
const reloaded: ReadonlySet<string> = new Set<keyof Config>([
  'tenantId',
  'subscriptionId',
  'resourceGroup',
  'clients',
  'subscriptions',
  'topics',
  'eventSubscriptions',
  'ingress',
])

/** The fields that differ and take effect at the next start only. */
export function fieldsForRestart(before: Config, after: Config): string[] {
  const [old, fresh] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  const names = new Set([...old.keys(), ...fresh.keys()])
  return [...names].filter((name) => !reloaded.has(name) && !isDeepStrictEqual(old.get(name), fresh.get(name)))
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} can't be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}
