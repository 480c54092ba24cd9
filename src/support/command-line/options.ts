/** Options of a command: how they are parsed, what is said of wrong ones, and the lines of help, which stay within 80 columns. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { messageOf } from '../process/error-code.ts'
import { nearestName } from '../text/nearest-name.ts'
import { wrap } from './terminal.ts'

/**
 * Parses the options of a command.
 *
 * @throws UsageError where Node's `parseArgs` refuses an option, with its message. For an unknown option the message suggests the nearest
 *   known option. An empty value is refused too: it usually comes from a shell variable that is not set. So is an option that is given
 *   twice and is not `multiple`: Node would drop the first value
 */
export function parseOptions<const Known extends ParseArgsOptionsConfig>(args: readonly string[], known: Known) {
  return parseOptionsAndPaths(args, known, { allowPositionals: false }).values
}

/** As {@link parseOptions}, for a command that takes paths beside options: the `positionals`. */
export function parseOptionsAndPaths<const Known extends ParseArgsOptionsConfig>(
  args: readonly string[],
  known: Known,
  { allowPositionals } = { allowPositionals: true },
) {
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options: known,
      allowPositionals,
      tokens: true,
    })
    const single = tokens.flatMap((token) =>
      token.kind === 'option' && !known[token.name]?.multiple ? token.name : [],
    )
    const twice = single.find((name, at) => single.indexOf(name) < at)
    if (twice !== undefined) throw new TypeError(`Option '--${twice}' is given twice`)
    for (const [name, value] of Object.entries(values)) {
      if ([value].flat().includes('')) throw new TypeError(`Option '--${name}' has an empty value`)
    }
    return { values, positionals }
  } catch (error) {
    const message = messageOf(error)
    const [, unknown] = /^Unknown option '--([^']+)'/.exec(message) ?? []
    const meant = unknown === undefined ? undefined : nearestName(unknown, Object.keys(known))
    const complaint = meant === undefined ? message : `${message}; did you mean --${meant}?`
    throw new UsageError(complaint, { showHelp: true, cause: error })
  }
}

export const text = (takes: string, about: string) => ({ type: 'string', takes, about }) as const
/** An option that may be repeated. */
export const texts = (takes: string, about: string) => ({ ...text(takes, about), multiple: true }) as const
export const flag = (about: string) => ({ type: 'boolean', about }) as const

/** What {@link parseOptions} gives for options that take a text each. */
export type OptionTexts<Known> = { readonly [Name in keyof Known]?: string | undefined }

/** One of the words that an option takes. Throws a UsageError for any other text. */
export function readChoice<const Word extends string>(choices: readonly Word[], option: string, text: string): Word {
  const found = choices.find((choice) => choice === text)
  if (found !== undefined) return found
  throw wrongOption(`--${option} takes ${choices.join(' or ')}, not ${JSON.stringify(text)}`)
}

/** The whole number of an option. Throws a UsageError for any other text, and outside the range. */
export function readNumber(option: string, text: string, [from, to]: readonly [from: number, to: number]): number {
  if (/^\d{1,6}$/.test(text) && Number(text) >= from && Number(text) <= to) return Number(text)
  throw wrongOption(`--${option} takes a number from ${from} to ${to}, not ${JSON.stringify(text)}`)
}

/** The port of an option, where 0 takes a free one; `undefined` where it is not given. */
export const readPort = (option: string, text: string | undefined) =>
  text === undefined ? undefined : readNumber(option, text, [0, 65_535])

interface Option {
  readonly takes?: string
  readonly about: string
}

/** The lines of options in a command's help. `width`: of the column with the options. */
export function optionLines(width: number, options: Readonly<Record<string, Option>>): string {
  const lines = Object.entries(options).map(([name, { takes = '', about }]) =>
    helpEntry(`--${name} ${takes}`.trim(), width, about),
  )
  return [...lines, helpEntry('-h, --help', width, 'this text')].join('\n')
}

/** The lines of one entry: an option or a command. `width`: of the column with the names. */
export function helpEntry(name: string, width: number, about: string): string {
  return `  ${name.padEnd(width)} ${fill(about, width + 3)}`
}

/** The lines of a paragraph. @param column where it begins. @default 0 */
export const fill = (text: string, column = 0): string => wrap(text, { width: 80, column })

export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** Whether the command's help can help: then the line that shows it is named. */
  readonly showHelp: boolean

  /** @param options.showHelp @default false */
  constructor(message: string, options: ErrorOptions & { readonly showHelp?: boolean } = {}) {
    super(message, options)
    this.showHelp = options.showHelp ?? false
  }
}

export const wrongOption = (message: string) => new UsageError(message, { showHelp: true })
