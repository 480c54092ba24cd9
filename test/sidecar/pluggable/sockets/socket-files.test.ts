import { once } from 'node:events'
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../../src/core/logger.ts'
import { createPluggable, type PluggableOptions } from '../../../../src/sidecar/pluggable/server.ts'
import { claimSockets } from '../../../../src/sidecar/pluggable/sockets/socket-files.ts'
import { processMark } from '../../../../src/support/process/process-mark.ts'
import { captureLog } from '../../../support/captured-log.ts'
import { markOfEnded } from '../../../support/foreign-mark.ts'
import { failToAccept, listeningServers } from '../../../support/listening-servers.ts'
import { makeSocketFolder } from '../../../support/socket-folder.ts'
import { connectHost } from '../grpc-host.ts'

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

/** The lock of a folder as another process has it, or has left it. */
function leaveLock(folder: string, mark: string): void {
  mkdirSync(join(folder, '.eb', mark), { recursive: true })
  writeFileSync(join(folder, '.eb', mark, '0'), '')
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
    if (existsSync(join(folder, 'first.sock'))) throw new Error('the second can not be had')
    await listen(path)
  }
  const names = ['first.sock', 'second.sock']
  await expect(claimSockets({ folder, names, mode: 0o660, bind })).rejects.toThrow('the second')
  expect(readdirSync(folder)).toEqual([])
})

it('lets one of several win that start at the same moment, stale sockets or not', async () => {
  const folder = makeSocketFolder()
  const stale = await listen(join(folder, 'other'))
  for (const name of names) linkSync(join(folder, 'other'), join(folder, name))
  await new Promise((resolve) => stale.close(resolve))

  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => serve(folder)))
  const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  expect(won).toHaveLength(1)
  for (const path of won.flatMap(({ sockets }) => sockets)) {
    const host = connectHost(path)
    expect(await host.ping('input')).toEqual({})
    host.close()
  }
  await Promise.all(won.map((one) => one.close()))
  expect(readdirSync(folder)).toEqual([])
})

it('lets one of two win that start at the same moment, in each of 50 rounds, whatever a killed process has left', async () => {
  for (let round = 0; round < 50; round++) {
    const folder = makeSocketFolder()
    if (round % 2 === 0) leaveLock(folder, markOfEnded())
    const bind = async (path: string) => void (await listen(path))
    const claims = [1, 2].map(() => claimSockets({ folder, names, mode: 0o660, bind }))
    const outcomes = await Promise.allSettled(claims)
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(readdirSync(folder).sort()).toEqual(names)
  }
})

it('waits for another process that is about to put its sockets there', async () => {
  const folder = makeSocketFolder()
  leaveLock(folder, processMark(process.ppid))
  const starting = serve(folder)
  await serve(makeSocketFolder())
  expect(readdirSync(folder)).toEqual(['.eb'])
  rmSync(join(folder, '.eb'), { recursive: true })
  await starting
  expect(readdirSync(folder).sort()).toEqual(names)
})

it('waits for no process that was killed over that', async () => {
  const folder = makeSocketFolder()
  leaveLock(folder, markOfEnded())
  await serve(folder, { lockTimeoutMs: 0 })
  expect(readdirSync(folder).sort()).toEqual(names)
})

it.each([
  { what: 'a symbolic link to nothing', make: (path: string) => symlinkSync('/nowhere', path) },
  { what: 'a symbolic link to a folder', make: (path: string) => symlinkSync(tmpdir(), path) },
  { what: 'a file', make: (path: string) => writeFileSync(path, '') },
])('refuses $what in place of its lock, and names the path', async ({ make }) => {
  const folder = makeSocketFolder()
  make(join(folder, '.eb'))
  await expect(serve(folder)).rejects.toThrow(`${join(folder, '.eb')} is not a folder; remove it`)
  expect(readdirSync(folder)).toEqual(['.eb'])
})

it('waits for a process that keeps the lock for a limited time, and names its path', async () => {
  const folder = makeSocketFolder()
  leaveLock(folder, processMark(process.ppid))
  await expect(serve(folder, { lockTimeoutMs: 1 })).rejects.toThrow(
    `another process keeps the lock ${join(folder, '.eb')}; remove it`,
  )
  expect(readdirSync(folder)).toEqual(['.eb'])
})

it('starts again where another process removes its lock, as after a suspension of seconds', async () => {
  const folder = makeSocketFolder()
  let suspended = true
  const bind = async (path: string) => {
    if (suspended) rmSync(join(folder, '.eb'), { recursive: true })
    suspended = false
    await listen(path)
  }
  const { paths } = await claimSockets({ folder, names: ['azure.eventgrid.sock'], mode: 0o660, bind })
  expect(paths.map((path) => existsSync(path))).toEqual([true])
  expect(readdirSync(folder)).toEqual(['azure.eventgrid.sock'])
})

it('leaves the lock of another process alone that took its place', async () => {
  const folder = makeSocketFolder()
  const other = processMark(process.ppid)
  const bind = async () => {
    rmSync(join(folder, '.eb'), { recursive: true })
    leaveLock(folder, other)
    throw new Error('the path is gone')
  }
  const claimed = claimSockets({ folder, names: ['azure.eventgrid.sock'], mode: 0o660, bind, lockTimeoutMs: 1 })
  await expect(claimed).rejects.toThrow('another process keeps the lock')
  expect(readdirSync(join(folder, '.eb'))).toEqual([other])
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
