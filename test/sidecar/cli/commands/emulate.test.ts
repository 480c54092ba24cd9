import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { configFile, startEmulate } from '../../../../packages/emulator/test/cli/emulate-command.ts'
import { startCommand } from '../../../support/command.ts'
import { listen } from '../../../support/listen.ts'

/** The emulator, started by this command; packages/emulator/test/cli has the rest of its command line. */
const startHere = (args: readonly string[]) =>
  startEmulate(args, {}, (given, env) => startCommand(['emulate', ...given], env))

it('starts the emulator, and names the next step by its own name', async () => {
  const emulate = await startHere([])
  expect(emulate.lines.join('\n')).toMatch(
    /^next step: (npx|node) .* emulate --deliver orders=http:\/\/127\.0\.0\.1:3000\/hook$/m,
  )
  emulate.process.kill('SIGTERM')
  expect(await emulate.ended).toBe(0)
})

it('complains by its own name', async () => {
  const file = configFile('port: 70000')
  const command = startCommand(['emulate', '--config', file])
  expect(await command.ended).toBe(2)
  expect(command.lines[0]).toBe(`eventgrid-binding emulate: ${file} has a fault:`)
})

it('prints lines that, pasted into a shell, lead a binding to it', async () => {
  const port = Promise.withResolvers<string>()
  const ingress = createServer(async (request, response) => {
    const answer = await fetch(`http://localhost:${await port.promise}${request.url}`, {
      method: request.method ?? 'GET',
      headers: Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
        ['connection', 'host', 'content-length'].includes(name) ? [] : [[name, String(value)]],
      ),
      ...(request.method === 'POST' && { body: Buffer.concat(await request.toArray()) }),
    })
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
  const to = `http://127.0.0.1:${await listen(ingress)}/`
  const config = configFile(`{ ingress: [{ from: "https://pasted.example/", to: "${to}" }] }`)
  const emulate = await startHere(['--config', config])
  const { scope, endpoint, key } = await emulate.topic('orders')
  const program = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    resolve(import.meta.dirname, '../receive-one.ts'),
  ]
  const typed = [...program, scope, endpoint, key].map((word) => `'${word}'`).join(' ')
  const shell = spawn('sh', ['-c', `${emulate.environment().join('\n')}\nexec ${typed}`], {
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void shell.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: shell.stdout }).on('line', (line) => {
    lines.push(line)
    port.resolve(line.replace(/^listens on port /, ''))
  })
  const [code] = await once(shell, 'close')
  expect([code, lines.at(-1)]).toEqual([0, 'received {"order":"one"}'])
})
