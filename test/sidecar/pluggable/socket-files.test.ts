import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { basename, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { createPluggable, type PluggableOptions } from '../../../src/sidecar/pluggable/server.ts'
import { claimSockets } from '../../../src/sidecar/pluggable/socket-files.ts'
import { captureLog } from '../../support/captured-log.ts'
import { failToAccept, listeningServers } from '../../support/listening-servers.ts'
import { makeSocketFolder } from '../../support/socket-folder.ts'
import { connectHost } from './grpc-host.ts'

async function serve(folder: string, options: Partial<PluggableOptions> = {}) {
  const pluggable = await createPluggable({ folder, loggerOf: () => silentLogger, ...options })
  onTestFinished(() => pluggable.close())
  return pluggable
}

async function listen(path: string, backlog?: number): Promise<Server> {
  const server = createServer((socket) => void socket.destroy())
  server.listen({ path, backlog })
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return server
}

const names = ['azure.eventgrid.sock', 'cloud.eventrouter.sock']

it('puts a socket for each component type into the folder, and nothing else, and takes them away at the end', async () => {
  const folder = join(makeSocketFolder(), 'made')
  const pluggable = await serve(folder)
  expect(readdirSync(folder).sort()).toEqual(names)
  await pluggable.close()
  expect(readdirSync(folder)).toEqual([])
})

it.each([
  { mode: undefined, expected: 0o660 },
  { mode: 0o600, expected: 0o600 },
  { mode: 0o666, expected: 0o666 },
])('gives the sockets mode $mode, whatever the umask is', async ({ mode, expected }) => {
  const folder = makeSocketFolder()
  await serve(folder, mode === undefined ? {} : { socketMode: mode })
  for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(expected)
})

it.each(['file', 'file/below'])('says what to do where the folder is %s, in which no socket can be', async (place) => {
  const folder = makeSocketFolder()
  writeFileSync(join(folder, 'file'), '')
  await expect(serve(join(folder, place))).rejects.toThrow(
    /no socket can be made in \S+ \((EEXIST|ENOTDIR)\); choose a folder .* by --sockets-folder/,
  )
  expect(readdirSync(folder)).toEqual(['file'])
})

// /proc is Linux's.
it.runIf(process.platform === 'linux')('says the same of a folder that is there and takes no files', async () => {
  await expect(serve('/proc')).rejects.toThrow(/no socket can be made in \/proc \([A-Z]+\); choose a folder/)
})

it('replaces what a killed process has left, if only one of the two, and says that daprd must be restarted', async () => {
  const folder = makeSocketFolder()
  const server = await listen(join(folder, 'other'))
  linkSync(join(folder, 'other'), join(folder, 'azure.eventgrid.sock'))
  await new Promise((resolve) => server.close(resolve))
  expect(existsSync(join(folder, 'azure.eventgrid.sock'))).toBe(true)

  const log = captureLog()
  const { sockets } = await serve(folder, { loggerOf: () => log })
  expect(log.text()).toContain('replaced the sockets of a killed process')
  const host = connectHost(sockets.find((path) => path.includes('azure')) ?? '')
  onTestFinished(() => host.close())
  expect(await host.ping('input')).toEqual({})
})

it.each(names)('never takes %s from who serves it, and leaves nothing behind', async (name) => {
  const folder = makeSocketFolder()
  const live = await listen(join(folder, name))
  await expect(serve(folder)).rejects.toThrow(/served by another process/)
  expect(readdirSync(folder)).toEqual([name])
  expect(live.listening).toBe(true)
})

it('takes nothing from who serves it and has no room for one more connection', async () => {
  const folder = makeSocketFolder()
  const path = join(folder, 'azure.eventgrid.sock')
  const live = await listen(path, 1)
  // Nobody accepts these before the claim looks: all of that is within this turn of the event loop.
  for (let n = 0; n < 8; n++) connect(path).on('error', () => {})
  await expect(serve(folder)).rejects.toThrow(/served by another process/)
  expect(live.listening).toBe(true)
})

it('leaves nothing behind where it gets the first of the sockets only', async () => {
  const folder = makeSocketFolder()
  const bind = async (path: string) => {
    if (basename(path) === '1') throw new Error('the second can not be had')
    await listen(path)
  }
  const names = ['first.sock', 'second.sock']
  await expect(claimSockets({ folder, names, mode: 0o660, bind })).rejects.toThrow('the second')
  expect(readdirSync(folder)).toEqual([])
})

it('serves in a folder that every user may write to, with a warning', async () => {
  const folder = makeSocketFolder()
  chmodSync(folder, 0o777)
  const log = captureLog()
  await serve(folder, { loggerOf: () => log })
  expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([
    expect.objectContaining({ message: expect.stringContaining(`every user may replace files in ${folder}`) }),
  ])
  chmodSync(folder, 0o1777)
  const quiet = captureLog()
  await expect(serve(folder, { loggerOf: () => quiet })).rejects.toThrow(/served by another process/)
  expect(quiet.lines).toEqual([])
})

// Only root can give a folder away.
it.runIf(process.getuid?.() === 0)('serves in no folder of another user', async () => {
  const given = join(makeSocketFolder(), 'given')
  mkdirSync(given)
  chownSync(given, 4321, 4321)
  await expect(serve(given)).rejects.toThrow(`user 4321 owns ${given}`)
  expect(readdirSync(given)).toEqual([])
})

it('leaves a file alone that is no socket', async () => {
  const folder = makeSocketFolder()
  writeFileSync(join(folder, 'azure.eventgrid.sock'), 'mine')
  await expect(serve(folder)).rejects.toThrow(/is not a socket; remove it/)
  expect(statSync(join(folder, 'azure.eventgrid.sock')).size).toBe(4)
})

it('leaves a socket alone at its end that somebody else has put there since', async () => {
  const folder = makeSocketFolder()
  const pluggable = await serve(folder)
  const path = join(folder, 'azure.eventgrid.sock')
  rmSync(path)
  await listen(path)
  await pluggable.close()
  expect(readdirSync(folder)).toEqual(['azure.eventgrid.sock'])
})

it('takes a folder as long as a socket may have, in bytes, and says so of a longer one', async () => {
  const folder = `${makeSocketFolder()}/é`
  const longest = 103 - '/cloud.eventrouter.sock'.length
  const padded = folder + 'x'.repeat(longest - Buffer.byteLength(folder))
  await expect(serve(`${padded}x`)).rejects.toThrow(/too long/)
  const { sockets } = await serve(padded)
  expect(sockets.map((path) => existsSync(path))).toEqual([true, true])
})

it('gets its sockets though the process before it ends at that moment', async () => {
  const folder = makeSocketFolder()
  const before = await createPluggable({ folder, loggerOf: () => silentLogger })
  before.removeSockets()
  const bind = async (path: string) => {
    const server = createServer()
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(path, resolve))
    await before.close()
  }
  const { paths } = await claimSockets({ folder, names: ['azure.eventgrid.sock'], mode: 0o660, bind })
  expect(paths).toEqual([join(folder, 'azure.eventgrid.sock')])
})

it('goes on after a connection that the system could not hand over', async () => {
  const { result, servers } = await listeningServers(() => serve(makeSocketFolder()))
  expect(servers).toHaveLength(2)
  failToAccept(servers)
  await connectHost(result.sockets[0] ?? '').ping('input')
})
