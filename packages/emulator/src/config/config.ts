/** What a YAML configuration file means, and where its faults are: the first 30, each with its line, secrets masked. */
import { X509Certificate } from 'node:crypto'
import {
  type LocatedScalar,
  readLocatedYaml,
  type YamlPath,
  type YamlPlace,
} from '../../../../src/support/files/located-yaml.ts'
import { drawExcerpt } from '../../../../src/support/files/source-excerpt.ts'
import { createBlobDeadLetterStore } from '../dead-letters/write-dead-letters.ts'
import { createStorageQueues } from '../delivery/send/storage-queues.ts'
import { ownField } from '../model/events/event-text.ts'
import { type FieldFault, fieldName, maxFaults, namesAt } from '../model/schemas.ts'
import { checkConfig } from './config-faults.ts'
import { type Config, configSchema } from './config-schema.ts'
import { type EventGridEmulatorOptions, resolveOptions } from './options.ts'
import { firstPlan, planConfiguration } from './plan.ts'
import { nothing } from './standing.ts'

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
  const located = (place: YamlPlace, field: string, rule: string): ConfigProblem => ({
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
  const problem = (fault: FieldFault) => {
    const { path, rule, name } = fault
    const place = name === undefined ? document.placeOf(path) : document.placeOfKey(path, name)
    return located(place, fieldName(fault), rule + quotes(rule, valueAt(value, path)))
  }
  const { data, faults } = checkConfig(value, source.now)
  const problems = document.duplicateKeys.map(({ place, rule }) => located(place, '', rule))
  problems.push(...faults.map(problem))
  const trustedCertificates = (data?.trustedCertificates ?? []).map((file, index) => {
    try {
      return readCertificates(file, source)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      problems.push(problem({ path: ['trustedCertificates', index], rule: `(${file}) ${message}` }))
      return ''
    }
  })
  if (!data || problems.length > 0) throw new EmulatorConfigError(problems.slice(0, maxFaults))
  const {
    deadLetterConnectionString: blobs,
    deadLetterCreatesContainer: createsContainer = false,
    storageQueueConnectionString: queues,
    ...options
  } = data
  const stores = {
    ...(blobs !== undefined && { deadLetterStore: createBlobDeadLetterStore(blobs, { createsContainer }) }),
    ...(queues !== undefined && { storageQueues: createStorageQueues(queues) }),
  }
  const parsed = { config: data, options: { ...options, trustedCertificates, ...stores } }
  const plan = planConfiguration(nothing(), resolveOptions(parsed.options), firstPlan(source.now))
  if ('faults' in plan) throw new EmulatorConfigError(plan.faults.slice(0, maxFaults).map(problem))
  return parsed
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

/** What YAML reads as a number or a truth value may have been meant as a text. */
const quotes = (rule: string, value: unknown) =>
  rule === 'must be a text' && typeof value !== 'object' ? ': put it in quotes' : ''

function valueAt(value: unknown, path: YamlPath): unknown {
  return path.reduce<unknown>((at, part) => (Array.isArray(at) ? at[Number(part)] : ownField(at, String(part))), value)
}

const lists = ['clients', 'subscriptions', 'topics', 'eventSubscriptions', 'ingress']
const words: ReadonlySet<string> = new Set(
  [[], ...lists.map((list) => [list, 0])].flatMap((path) => namesAt(configSchema, path)),
)

/** Keys, connection strings and delivery attributes may be secret, and so may the query of a URL. */
function isShown({ path, isKey, text }: LocatedScalar): boolean {
  if (isKey) return /^[a-z]{1,40}$/i.test(text)
  return (
    !path.some((part) => /secret|key|connectionString|^values?$/i.test(String(part))) && !/[?;]|-----BEGIN/.test(text)
  )
}
