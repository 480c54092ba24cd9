// The main job, as a user of the image does it: emulator, binding and application, events both ways. Node and /app alone are there.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const program = '/app/eventgrid-binding.js'

/** Starts a program; `said` resolves with its first line that fits. */
function start(...args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines = []
  let look = () => {}
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      look()
    })
  }
  const ended = new Promise((done) => child.on('close', done))
  const said = (pattern) =>
    new Promise((found, failed) => {
      look = () => {
        const line = lines.find((one) => pattern.test(one))
        if (line !== undefined) found(line)
      }
      look()
      ended.then((code) => failed(new Error(`${args.join(' ')} ended with ${code}:\n${lines.join('\n')}`)))
    })
  return { child, ended, said }
}

function check(condition, complaint) {
  if (!condition) throw new Error(complaint)
}

let refused
try {
  writeFileSync('/app/x', '')
} catch (error) {
  refused = error.code
}
check(refused === 'EROFS', 'the file system does not refuse a write')
check(process.getuid() === 65532, 'the process does not run as the user of the image')

await start(program, 'init').ended
const emulator = start(program, 'emulate', '--config', 'emulator.yaml')
await emulator.said(/^ready: /)
const application = start('app.mjs')
await application.said(/the application listens/)
const binding = start(program, 'run', '--components', 'components', '--emulator', '--app-port', '3000')
await binding.said(/the event subscription orders is provisioned: created/)

const answer = await fetch('http://127.0.0.1:3500/v1.0/bindings/orders', {
  method: 'POST',
  body: JSON.stringify({ operation: 'create', data: { order: 1 } }),
})
check(answer.status === 200, 'create does not publish')
check(/"order":\s*1/.test(await application.said(/^\/orders \{/)), 'the event does not reach the application')
check((await start('/app/healthcheck.mjs').ended) === 0, 'HEALTHCHECK does not find it healthy')

for (const { child, ended } of [binding, emulator]) {
  child.kill('SIGTERM')
  check((await ended) === 0, 'SIGTERM does not end a command with 0')
}
check((await start('/app/healthcheck.mjs').ended) === 1, 'HEALTHCHECK does not notice the end')
application.child.kill()
console.log('done')
