import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { visit } from 'unist-util-visit'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { installLines } from '../support/install-lines.ts'
import { commandHelp, commandNames, optionsOf } from './command-options.ts'
import { pages, placeOf, root } from './page.ts'
import { commandsIn, type ShellCommand } from './shell-line.ts'

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))

/** Every command of a shell block, and every one that a sentence names. */
const commands = pages.flatMap((page) => {
  const found: { place: string; words: ShellCommand }[] = []
  visit(page.tree, ['code', 'inlineCode'], (node) => {
    if (node.type === 'code' && node.lang !== 'sh') return
    if (node.type !== 'code' && node.type !== 'inlineCode') return
    const inSentence = node.type === 'inlineCode'
    if (inSentence && !/^(npx|npm|\.\/node_modules\/\.bin\/[\w-]+) /.test(node.value)) return
    for (const words of commandsIn(node.value)) found.push({ place: placeOf(page, node), words })
  })
  return found
})

const named = (...start: string[]) =>
  commands
    .filter(({ words }) => start.every((word, at) => words[at] === word))
    .map(({ place, words }) => ({ place, line: words.join(' '), words: words.slice(start.length) }))

const ofEmulator = [
  ...named('./node_modules/.bin/eventgrid-emulator'),
  ...named('npx', '--no-install', 'eventgrid-emulator'),
]

it.each(ofEmulator)('$place: $line', async ({ words }) => {
  const known = optionsOf(await commandHelp('emulate')).map(({ flag }) => flag)
  expect(words.filter((word) => word.startsWith('--') && !known.includes(word))).toEqual([])
})

it('starts the emulator by its path, or by npx that installs nothing: the name is not taken yet', () => {
  expect(named('npx', 'eventgrid-emulator')).toEqual([])
  expect(ofEmulator.length).toBeGreaterThan(5)
})

it.each(named('npx', 'eventgrid-binding'))('$place: $line', async ({ words: [name = '', ...args] }) => {
  if (name === '…') return
  const options = optionsOf(await commandHelp(name))
  for (const [at, argument] of args.entries()) {
    if (!argument.startsWith('--')) continue
    const option = options.find(({ flag }) => flag === argument)
    expect(option, `${name} has no ${argument}`).toBeDefined()
    const next = args[at + 1]
    if (option?.value === 'required') expect(next, `${argument} needs a value`).toMatch(/^[^-]/)
    if (option?.value === 'none') expect(next ?? '--', `${argument} takes no value`).toMatch(/^--/)
  }
})

const ofNpm = [
  ...named('npm', 'run'),
  ...['start', 'test'].flatMap((script) =>
    named('npm', script).map((one) => ({ ...one, words: [script, ...one.words] })),
  ),
]

it.each(ofNpm)('$place: $line', ({ words: [script = '', ...args] }) => {
  const command = scripts[script] ?? ''
  expect(command, `package.json has no script ${script}`).not.toBe('')
  const options = args.filter((argument) => /^--./.test(argument))
  const program = /[\w/-]+\.ts$/.exec(command)?.[0]
  const source = program === undefined ? '' : readFileSync(join(root, program), 'utf8')
  for (const option of options) expect(source).toMatch(new RegExp(`\\b${option.slice(2)}'?: \\{ type: '`))
})

it.each(named('node'))('$place: $line', ({ words }) => {
  const program = words.find((word) => /^(examples|dist|bench|test)\//.test(word))
  if (program !== undefined) expect(existsSync(join(root, program)), program).toBe(true)
})

const { packages } = z
  .object({ packages: z.record(z.string(), z.object({ version: z.string().optional() })) })
  .parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))

/** Whether it names a version, and the one that the examples are tested with. test/check-package.ts installs them all together. */
function hasOurVersion(one: string): boolean {
  const [, name = '', version] = /^(@?[^@]+)@(\d[\d.]*)$/.exec(one) ?? []
  const ours = packages[`node_modules/${name}`]?.version ?? version
  return `${ours}.`.startsWith(`${version}.`) && version !== undefined
}

it.each(installLines(root))('$file: npm install $packages', ({ packages: named }) => {
  expect(named.filter((one) => !hasOurVersion(one))).toEqual([])
})

/** Options that a sentence names, alone or behind a command: `--wait`, `emulate --state FILE`. */
const optionsInSentences = pages.flatMap((page) => {
  const found: { place: string; command: string | undefined; flag: string }[] = []
  visit(page.tree, 'inlineCode', (node) => {
    const [, command, flag] =
      /^(?:(serve|run|emulate|check|provision|replay|init|schema) )?(--[a-z][a-z-]+)/.exec(node.value) ?? []
    if (flag !== undefined) found.push({ place: placeOf(page, node), command, flag })
  })
  return found
})

/** Of node, devtunnel and docker. */
const flagsOfOthers = [
  '--import',
  '--max-semi-space-size',
  '--max-old-space-size',
  '--no-allocation-site-pretenuring',
  '--enable-app-health-check',
  '--enable-source-maps',
  '--allow-anonymous',
  '--health-cmd',
]

it.each(optionsInSentences)('$place names an option that exists: $flag', async ({ command, flag }) => {
  const names = command === undefined ? commandNames : [command]
  const helps = await Promise.all(names.map(commandHelp))
  const known = helps.flatMap((help) => optionsOf(help).map((option) => option.flag))
  expect([...known, ...flagsOfOthers]).toContain(flag)
})

it('finds the commands', () => {
  expect(commands.length).toBeGreaterThan(80)
})
