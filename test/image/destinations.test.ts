/** What the emulator delivers by optional packages: the bundle has these inside. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { copyOfBundle } from '../support/command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const root = resolve(import.meta.dirname, '../..')
const configuration = `deadLetterConnectionString: UseDevelopmentStorage=true
storageQueueConnectionString: UseDevelopmentStorage=true
serviceBus: [{ connectionString: Endpoint=sb://localhost;SharedAccessKeyName=a;SharedAccessKey=b }]
eventHubs: [{ connectionString: Endpoint=sb://localhost;SharedAccessKeyName=a;SharedAccessKey=b }]
`

it.each([
  { folder: '.', program: 'eventgrid-binding.js', command: ['emulate'] },
  { folder: 'packages/emulator', program: 'eventgrid-emulator.js', command: [] },
])('$program delivers to storage, Service Bus and Event Hubs without node_modules', ({ folder, program, command }) => {
  const config = join(temporaryFolder(), 'emulator.yaml')
  writeFileSync(config, configuration)
  const args = [...command, '--config', config, '--port', '0', '--http-port', '0', '--until-stdin-ends']
  const { stderr, status } = spawnSync(
    process.execPath,
    [copyOfBundle(join(root, folder, 'bundle'), program), ...args],
    {
      ...{ encoding: 'utf8', input: '' },
    },
  )
  expect({ status, missing: /need the package/.exec(stderr) }).toEqual({ status: 0, missing: null })
})
