import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

const demo = `${import.meta.dirname}/demo.ts`
const withoutCurl = spawnSync('curl', ['--version']).error !== undefined

/** Starts the demo with its output piped, and reads it line by line. */
function start(...options: string[]): { readonly child: ChildProcess; readonly lines: AsyncIterable<string> } {
  const child = spawn(process.execPath, [demo, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, lines: createInterface({ input: child.stdout }) }
}

/** Lines that a terminal of 80 columns breaks within a word, but for those of one word. */
const tooLong = (text: string) => text.split('\n').filter((line) => line.length > 80 && /\S +\S/.test(line))

it('accounts for every event, and is readable without colour', async () => {
  const { child, lines } = start('--events', '60')
  const closed = once(child, 'close')
  let text = ''
  for await (const line of lines) text += `${line}\n`
  expect(await closed).toEqual([0, null])
  expect(text).not.toContain('\u001b')
  expect(text).not.toContain('\r')
  expect(text).toMatch(/handshake {2}OPTIONS https:\/\/orders\.example\.com\/api\/events → 200/)
  expect(text).toMatch(/try 1: 500/)
  expect(text).toMatch(/try 2: 200/)
  expect(text).toMatch(/try 1: 400/)
  for (const [what, count] of Object.entries({ published: 60, delivered: 59, redelivered: 1, 'dead-lettered': 1 })) {
    expect(text).toMatch(new RegExp(`${what}\\W+${count}\\b`))
  }
  // It ends with what to do next.
  expect(text).toMatch(/\n *Next: npm start -- --keep .*;\n.*getting-started\.md.*\n$/)
  expect(tooLong(text)).toEqual([])
})

it('accounts for every event by pull delivery', async () => {
  const { child, lines } = start('--pull', '--events', '60')
  const closed = once(child, 'close')
  let text = ''
  for await (const line of lines) text += `${line}\n`
  expect(await closed).toEqual([0, null])
  expect(text).toContain('left in the queue: {"available":0,"locked":0,"delayed":0}')
  expect(tooLong(text)).toEqual([])
  for (const [what, count] of Object.entries({ published: 60, delivered: 59, redelivered: 1, 'dead-lettered': 1 })) {
    expect(text).toMatch(new RegExp(`${what}\\W+${count}\\b`))
  }
})

it.each([
  {
    options: ['--events', 'many'],
    status: 2,
    said: /^--events takes a whole number from 10 to 100000\nUsage: [\s\S]*\n$/,
  },
  { options: ['--bogus'], status: 2, said: /^Unknown option '--bogus'.*\nUsage: [\s\S]*\n$/ },
  { options: ['--help'], status: 0, said: /^Usage: npm start -- \[--keep \| --pull\] \[--events N\]\n[\s\S]*\n$/ },
])('answers $options with a line of usage', ({ options, status, said }) => {
  const ended = spawnSync(process.execPath, [demo, ...options], { encoding: 'utf8' })
  expect(ended.status).toBe(status)
  expect(ended.stdout + ended.stderr).toMatch(said)
})

it.skipIf(withoutCurl)(
  'stays up with --keep, and the page and the curl lines that it prints do what they say',
  async () => {
    const { child, lines } = start('--keep', '--events', '20')
    const closed = once(child, 'close')
    const answers: string[] = []
    let page = ''
    for await (const line of lines) {
      const [url] = /http:\/\/\S+\/$/.exec(line) ?? []
      if (url) page = await (await fetch(url)).text()
      if (line.includes('  curl ')) answers.push((await promisify(execFile)('sh', ['-c', line])).stdout)
      if (/received hello mine \{"from":"curl"\}/.test(line)) child.kill('SIGINT')
    }
    expect(await closed).toEqual([0, null])
    expect(page).toContain('<!doctype html>')
    expect(answers.map((answer) => /\d{3}/.exec(answer.slice(answer.indexOf(' ')))?.[0])).toEqual([
      '200',
      '200',
      '200',
      '401',
    ])
  },
)

it('ends quietly when nobody reads its lines any more', async () => {
  const shell = spawn('sh', ['-c', '"$0" "$1" --events 20 | head -3', process.execPath, demo], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const complaints = text(shell.stderr)
  expect(await once(shell, 'close')).toEqual([0, null])
  expect(await complaints).toBe('')
})
