import { X509Certificate } from 'node:crypto'
import type { z } from 'zod'
import { nearestName } from '../../support/nearest-name.ts'
import { createBlobDeadLetterStore } from '../delivery/blob-dead-letter-store.ts'
import { ownField } from '../model/json-object.ts'
import { referenceFaults } from './config-references.ts'
import { type Config, configSchema, namesAt } from './config-schema.ts'
import { type ConfigPath, type ConfigProblem, readConfigYaml } from './config-yaml.ts'
import type { EventGridEmulatorOptions } from './options.ts'

export type { Config } from './config-schema.ts'
export type { ConfigProblem } from './config-yaml.ts'

/** Most problems that are named: a file that is no configuration at all has thousands. */
const mostProblems = 30

/** A configuration that can't be used: what is wrong with it, one line each. */
export class EmulatorConfigError extends Error {
  override readonly name = 'EmulatorConfigError'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ at, field, rule }) => `${at}: ${field === '' ? '' : `${field} `}${rule}`).join('\n'))
    this.problems = problems
  }
}

/** What it takes to read a configuration beside its text. */
export interface ConfigSource {
  /** The file's name in problems. */
  readonly file: string
  /** Milliseconds since 1970, for expiration times. */
  readonly now: number
  /** Reads a file that the configuration names. Throws an Error that says why it can't. */
  readFile(path: string): string
}

/** A configuration as it was written, and the emulator's options that it stands for. */
export interface ParsedConfig {
  readonly config: Config
  readonly options: EventGridEmulatorOptions
}

/** Reads a configuration file's text. Throws an {@link EmulatorConfigError} with its faults, the first 30 of them. */
export function parseConfig(text: string, source: ConfigSource): ParsedConfig {
  const yaml = readConfigYaml(text, source.file)
  if ('problems' in yaml) throw new EmulatorConfigError(yaml.problems)
  const parsed = configSchema.safeParse(yaml.value)
  const problems: ConfigProblem[] = []
  for (const issue of (parsed.error?.issues ?? []).slice(0, mostProblems)) {
    const path = issue.path.filter((part) => typeof part !== 'symbol')
    if (issue.code !== 'unrecognized_keys') problems.push(yaml.problem(path, ruleOf(issue, valueAt(yaml.value, path))))
    else for (const key of issue.keys) problems.push(yaml.problem(path, unknownRule(key, namesAt(path)), key))
  }
  for (const { path, rule, name } of referenceFaults(yaml.value, source.now)) {
    // They are found one by one, so that what is not named costs nothing.
    if (problems.length >= mostProblems) break
    problems.push(yaml.problem(path, rule, name))
  }
  const trustedCertificates = (parsed.data?.trustedCertificates ?? []).map((file, index) => {
    const certificate = readCertificates(file, source)
    if (certificate instanceof Error) problems.push(yaml.problem(['trustedCertificates', index], certificate.message))
    return certificate instanceof Error ? '' : certificate
  })
  if (!parsed.success || problems.length > 0) throw new EmulatorConfigError(problems.slice(0, mostProblems))
  const { deadLetterConnectionString, ...options } = parsed.data
  const store = deadLetterConnectionString && {
    deadLetterStore: createBlobDeadLetterStore(deadLetterConnectionString),
  }
  return { config: parsed.data, options: { ...options, trustedCertificates, ...store } }
}

/** What a file of certificates holds, or what is wrong with it. */
function readCertificates(file: string, source: ConfigSource): string | Error {
  let text: string
  try {
    text = source.readFile(file)
  } catch (error) {
    return new Error(`(${file}) ${error instanceof Error ? error.message : String(error)}`)
  }
  try {
    new X509Certificate(text)
    return text
  } catch {
    return new Error(`(${file}) holds no PEM certificate`)
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list of two',
  object: 'a mapping',
  record: 'a mapping',
}

function ruleOf(issue: z.core.$ZodIssue, value: unknown): string {
  // A role by its name alone is looked at as if it stood in a mapping, where the file has none.
  if (value === undefined && issue.code !== 'custom') return 'is required'
  if (issue.code === 'invalid_type') {
    const quoted = issue.expected === 'string' && typeof value !== 'object' ? ': put it in quotes' : ''
    return `must be ${typeNames[issue.expected] ?? issue.expected}${quoted}`
  }
  if (issue.code === 'invalid_value') {
    const names = issue.values.map(String)
    const meant = nearestName(String(value), names)
    return `must be ${names.join(' or ')}${meant === undefined ? '' : `; did you mean ${meant}?`}`
  }
  return issue.message
}

function unknownRule(name: string, names: readonly string[]): string {
  const meant = nearestName(name, names)
  return `is no field${meant === undefined ? ` here; there are ${names.join(', ')}` : `; did you mean ${meant}?`}`
}

function valueAt(value: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>((at, part) => (Array.isArray(at) ? at[Number(part)] : ownField(at, String(part))), value)
}
