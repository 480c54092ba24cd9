import { expect, it } from 'vitest'
import { readRunOptions } from '../../../../src/sidecar/cli/commands/run.ts'
import { UsageError } from '../../../../src/support/command-line/options.ts'

const read = (line: string) => readRunOptions(line === '' ? [] : line.split(' '))

it('takes the ports and addresses of Dapr where nothing is said', () => {
  expect(read('--components dir --app-port 3000')).toEqual({
    components: ['dir'],
    appId: '',
    app: { address: '127.0.0.1', port: 3000, protocol: 'http', maxConcurrency: 256 },
    health: undefined,
    http: { host: '127.0.0.1', port: 3500 },
    grpc: undefined,
    secrets: undefined,
    metrics: undefined,
    log: { format: 'text', level: 'info' },
  })
})

it('serves gRPC at the address of the HTTP API where it is asked for', () => {
  const line = '--app-port 1 --app-protocol grpc --app-max-concurrency 2 --grpc-port 50001 --http-address 0.0.0.0'
  const { app, grpc } = read(line)
  expect(app).toMatchObject({ protocol: 'grpc', maxConcurrency: 2 })
  expect(grpc).toEqual({ host: '0.0.0.0', port: 50_001 })
})

it('takes files and folders, or the folder that init writes', () => {
  expect(read('--components dir --components a.yaml').components).toEqual(['dir', 'a.yaml'])
  expect(read('').components).toEqual(['./components'])
})

it('needs no application', () => {
  expect(read('--components dir').app).toBeUndefined()
})

it('reads the health check as Dapr does, in seconds', () => {
  const { health } = read('--components . --app-port 1 --app-health-check-path /well --app-health-probe-interval 0.5')
  expect(health).toEqual({ path: '/well', intervalMs: 500, threshold: 3 })
})

it.each([
  { line: '--components . --app-port 70000', says: /--app-port takes a number from 1 to 65535, not "70000"/ },
  { line: '--components . --app-port 0', says: /--app-port/ },
  { line: '--components . --http-port +1', says: /--http-port takes a number from 0 to 65535/ },
  { line: '--components . --port 1', says: /--port/ },
  { line: '--components . --app-id a --app-id b', says: /^Option '--app-id' is given twice$/ },
  { line: '--components . --secrets {"a":"b"}', says: /^--secrets takes the path of a JSON file, not its text$/ },
  { line: '--components . --app-health-check-path /', says: /needs --app-port/ },
  { line: '--components . --app-protocol grpc', says: /--app-protocol needs --app-port/ },
  { line: '--components . --app-port 1 --app-protocol https', says: /--app-protocol takes http or grpc, not "https"/ },
  { line: '--components . --grpc-port x', says: /--grpc-port takes a number from 0 to 65535/ },
  { line: '--components . --app-max-concurrency 5', says: /--app-max-concurrency needs --app-port/ },
  { line: '--components . --app-port 1 --app-health-threshold abc', says: /needs --app-health-check-path/ },
  {
    line: '--components . --app-port 1 --app-health-check-path / --app-health-probe-interval 0',
    says: /--app-health-probe-interval takes seconds from 0.05/,
  },
])('refuses "$line"', ({ line, says }) => {
  expect(() => read(line)).toThrow(UsageError)
  expect(() => read(line)).toThrow(says)
})
