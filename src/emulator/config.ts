import type { z } from 'zod'
import { createBlobDeadLetterStore } from './blob-dead-letter-store.ts'
import { closestName } from './closest-name.ts'
import { referenceFaults } from './config-references.ts'
import { type Config, configSchema, namesAt } from './config-schema.ts'
import { type ConfigPath, type ConfigProblem, readConfigYaml } from './config-yaml.ts'
import { ownField } from './json-object.ts'
import type { EventGridEmulatorOptions } from './options.ts'

export type { Config } from './config-schema.ts'
export type { ConfigProblem } from './config-yaml.ts'

/** A configuration that can't be used: everything that is wrong with it, one line each. */
export class EmulatorConfigError extends Error {
  override readonly name = 'EmulatorConfigError'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ at, field, rule }) => `${at}: ${field === '' ? '' : `${field} `}${rule}`).join('\n'))
    this.problems = problems
  }
}

/** Reads a configuration file's text. Throws an {@link EmulatorConfigError} with all its faults. @param file its name in them */
export function parseConfig(text: string, file: string, now: number): Config {
  const yaml = readConfigYaml(text, file)
  if ('problems' in yaml) throw new EmulatorConfigError(yaml.problems)
  const parsed = configSchema.safeParse(yaml.value)
  const problems = (parsed.error?.issues ?? []).flatMap((issue) => {
    const path = issue.path.filter((part) => typeof part !== 'symbol')
    if (issue.code !== 'unrecognized_keys') return yaml.problem(path, ruleOf(issue, valueAt(yaml.value, path)))
    return issue.keys.map((key) => yaml.problem(path, unknownRule(key, namesAt(path)), key))
  })
  for (const { path, rule } of referenceFaults(yaml.value, now)) problems.push(yaml.problem(path, rule))
  if (!parsed.success || problems.length > 0) throw new EmulatorConfigError(problems)
  return parsed.data
}

/** The options that a configuration stands for. @param certificates what its `trustedCertificates` hold, PEM */
export function optionsOf(config: Config, certificates: readonly string[]): EventGridEmulatorOptions {
  const { deadLetterConnectionString, trustedCertificates: _files, ...options } = config
  return {
    ...options,
    trustedCertificates: certificates,
    ...(deadLetterConnectionString !== undefined && {
      deadLetterStore: createBlobDeadLetterStore(deadLetterConnectionString),
    }),
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
  if (value === undefined) return 'is required'
  if (issue.code === 'invalid_type') {
    const quoted = issue.expected === 'string' && typeof value !== 'object' ? ': put it in quotes' : ''
    return `must be ${typeNames[issue.expected] ?? issue.expected}${quoted}`
  }
  if (issue.code === 'invalid_value') {
    const names = issue.values.map(String)
    const meant = closestName(String(value), names)
    return `must be ${names.join(' or ')}${meant === undefined ? '' : `; did you mean ${meant}?`}`
  }
  return issue.message
}

function unknownRule(name: string, names: readonly string[]): string {
  const meant = closestName(name, names)
  return `is no field${meant === undefined ? ` here; there are ${names.join(', ')}` : `; did you mean ${meant}?`}`
}

function valueAt(value: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>((at, part) => (Array.isArray(at) ? at[Number(part)] : ownField(at, String(part))), value)
}
