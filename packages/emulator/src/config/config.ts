// Reading the YAML configuration file: 30 problems, 1 MiB, excerpts, masked secrets, trusted certificates.
import { X509Certificate } from 'node:crypto'
import type { z } from 'zod'
import {
  type LocatedScalar,
  type Place,
  readLocatedYaml,
  type YamlPath,
} from '../../../../src/support/files/located-yaml.ts'
import { drawExcerpt } from '../../../../src/support/files/source-excerpt.ts'
import { didYouMean } from '../../../../src/support/text/nearest-name.ts'
import { createBlobDeadLetterStore } from '../dead-letters/blob-dead-letter-store.ts'
import { createStorageQueues } from '../delivery/send/storage-queues.ts'
import { ownField } from '../model/events/json-object.ts'
import { referenceFaults } from './config-references.ts'
import { type Config, configSchema, namesAt } from './config-schema.ts'
import type { EventGridEmulatorOptions } from './options.ts'

/** A file of another kind has thousands of problems. */
const maxProblems = 30
const limits = { maxLength: 1_048_576, maxDocuments: 1 }

export interface ConfigProblem {
  /** `file:line:column`. */
  readonly at: string
  /** As in `topics[0].inputSchema`; empty for the document itself. */
  readonly field: string
  /** Begins with a verb: `must be a text`. */
  readonly rule: string
  /** The line of the file with a caret under the place, secrets masked. */
  readonly excerpt?: string
}

/** A configuration that can't be used. The message has a line for each problem. */
export class EmulatorConfigError extends Error {
  override readonly name = 'EmulatorConfigError'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(describeProblem).join('\n'))
    this.problems = problems
  }
}

function describeProblem({ at, field, rule, excerpt }: ConfigProblem): string {
  const line = `${at}: ${field === '' ? '' : `${field} `}${rule}`
  return excerpt === undefined ? line : `${line}\n${excerpt}`
}

export interface ConfigSource {
  /** The file's name in problems. */
  readonly file: string
  /** Milliseconds since 1970, for expiration times. */
  readonly now: number
  /** Columns of the excerpt in each problem. @default no excerpts */
  readonly excerptWidth?: number
  /** Reads a file that the configuration names. Throws an Error that says why it can't. */
  readFile(path: string): string
}

export interface ParsedConfig {
  readonly config: Config
  readonly options: EventGridEmulatorOptions
}

/** Reads a configuration file's text. Throws an {@link EmulatorConfigError} with the first 30 problems. */
export function parseConfig(text: string, source: ConfigSource): ParsedConfig {
  const { documents, fault } = readLocatedYaml(text, limits)
  const located = (place: Place, field: string, rule: string): ConfigProblem => ({
    at: `${source.file}:${place.line}:${place.column}`,
    ...{ field, rule },
    ...(source.excerptWidth !== undefined && {
      excerpt: drawExcerpt(text, place, { documents, isShown, words, maxWidth: source.excerptWidth }),
    }),
  })
  if (fault) throw new EmulatorConfigError([located(fault.place, '', fault.rule)])
  const [document] = documents
  // An editor may have emptied the file and not yet written it.
  if (document === undefined || document.value === null)
    throw new EmulatorConfigError([located({ line: 1, column: 1 }, '', 'is empty')])
  const { value } = document
  const problem = (path: YamlPath, rule: string, name?: string) =>
    name === undefined
      ? located(document.placeOf(path), fieldName(path), rule)
      : located(document.placeOfKey(path, name), fieldName([...path, name]), rule)
  const parsed = configSchema.safeParse(value)
  const problems = document.duplicateKeys.map(({ place, rule }) => located(place, '', rule))
  for (const issue of (parsed.error?.issues ?? []).slice(0, maxProblems)) {
    const path = issue.path.filter((part) => typeof part !== 'symbol')
    if (issue.code !== 'unrecognized_keys') problems.push(problem(path, ruleOf(issue, valueAt(value, path))))
    else for (const key of issue.keys) problems.push(problem(path, unknownRule(key, namesAt(path)), key))
  }
  for (const { path, rule, name } of referenceFaults(value, source.now)) {
    // They are found one by one, so those over the limit cost nothing.
    if (problems.length >= maxProblems) break
    problems.push(problem(path, rule, name))
  }
  const trustedCertificates = (parsed.data?.trustedCertificates ?? []).map((file, index) => {
    try {
      return readCertificates(file, source)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      problems.push(problem(['trustedCertificates', index], `(${file}) ${message}`))
      return ''
    }
  })
  if (!parsed.success || problems.length > 0) throw new EmulatorConfigError(problems.slice(0, maxProblems))
  const {
    deadLetterConnectionString: blobs,
    deadLetterCreatesContainer: createsContainer = false,
    storageQueueConnectionString: queues,
    ...options
  } = parsed.data
  const stores = {
    ...(blobs !== undefined && { deadLetterStore: createBlobDeadLetterStore(blobs, { createsContainer }) }),
    ...(queues !== undefined && { storageQueues: createStorageQueues(queues) }),
  }
  return { config: parsed.data, options: { ...options, trustedCertificates, ...stores } }
}

function readCertificates(file: string, source: ConfigSource): string {
  const text = source.readFile(file)
  try {
    new X509Certificate(text)
  } catch {
    throw new Error('holds no PEM certificate')
  }
  return text
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
  // A role given by its name alone is checked as a mapping, which the file does not have.
  if (value === undefined && issue.code !== 'custom') return 'is required'
  if (issue.code === 'invalid_type') {
    const quoted = issue.expected === 'string' && typeof value !== 'object' ? ': put it in quotes' : ''
    return `must be ${typeNames[issue.expected] ?? issue.expected}${quoted}`
  }
  if (issue.code === 'invalid_value') {
    const names = issue.values.map(String)
    const question = didYouMean(String(value), names)
    return `must be ${names.join(' or ')}${question === undefined ? '' : `; ${question}`}`
  }
  return issue.message
}

function unknownRule(name: string, names: readonly string[]): string {
  const question = didYouMean(name, names)
  return question === undefined
    ? `is not a field here; the fields are ${names.join(', ')}`
    : `is not a field; ${question}`
}

function valueAt(value: unknown, path: YamlPath): unknown {
  return path.reduce<unknown>((at, part) => (Array.isArray(at) ? at[Number(part)] : ownField(at, String(part))), value)
}

function fieldName(path: YamlPath): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
}

const lists = ['clients', 'subscriptions', 'topics', 'eventSubscriptions', 'ingress']
const words: ReadonlySet<string> = new Set([[], ...lists.map((list) => [list, 0])].flatMap(namesAt))

/** Keys, connection strings and delivery attributes may be secret, and so may the query of a URL. */
function isShown({ path, isKey, text }: LocatedScalar): boolean {
  if (isKey) return /^[a-z]{1,40}$/i.test(text)
  return !path.some((part) => /secret|key|connectionString|^values?$/i.test(String(part))) && !/[?;]/.test(text)
}
