import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createPluggable } from '../../../../src/sidecar/pluggable/server.ts'
import { decideTrust, type PathStep } from '../../../../src/sidecar/pluggable/sockets/folder-trust.ts'
import { captureLog } from '../../../support/captured-log.ts'
import { makeSocketFolder } from '../../../support/socket-folder.ts'

const me = 1000
const folder = (over: Partial<PathStep> = {}): PathStep => ({
  path: '/a',
  uid: me,
  mode: 0o40755,
  link: false,
  ...over,
})
const parent = (over: Partial<PathStep> = {}): PathStep => ({ ...folder({ path: '/', uid: 0 }), ...over })

it.each([
  { what: 'a folder of our own', steps: [folder(), parent()] },
  { what: 'a folder of root', steps: [folder({ uid: 0 }), parent()] },
  { what: 'a folder that our group may write to', steps: [folder({ mode: 0o40775 }), parent()] },
  { what: 'a folder within /tmp', steps: [folder(), parent({ mode: 0o41777 })] },
  { what: 'a folder below that of a user whom a user namespace hides', steps: [folder(), parent({ uid: 65_534 })] },
  { what: 'a link of our own', steps: [folder(), parent(), folder({ path: '/l', mode: 0o120777, link: true })] },
])('takes $what without a warning', ({ steps }) => {
  expect(decideTrust(steps, me)).toEqual({ refusal: undefined, warnings: [] })
})

it.each([
  { what: 'a folder', steps: [folder({ uid: 7 }), parent()], owns: 'user 7 owns /a' },
  { what: 'a folder of nobody', steps: [folder({ uid: 65_534 }), parent()], owns: 'user 65534 owns /a' },
  { what: 'a folder above it', steps: [folder(), parent({ uid: 7 })], owns: 'user 7 owns /' },
  {
    what: 'a symbolic link to it',
    steps: [folder(), parent(), folder({ path: '/l', uid: 7, mode: 0o120777, link: true })],
    owns: 'user 7 owns /l',
  },
])('refuses $what that another user owns, and says how to choose one', ({ steps, owns }) => {
  const { refusal } = decideTrust(steps, me)
  expect(refusal).toContain(owns)
  expect(refusal).toContain('choose a folder that root or user 1000 owns, with mode 0755 or 0700, by --sockets-folder')
})

it.each([
  {
    what: 'the folder, as a volume of Kubernetes is',
    steps: [folder({ uid: 0, mode: 0o40777 }), parent()],
    path: '/a',
  },
  { what: 'a folder above it', steps: [folder(), parent({ mode: 0o40777 })], path: '/' },
])('warns of $what that every user may write to without the sticky bit', ({ steps, path }) => {
  expect(decideTrust(steps, me)).toEqual({
    refusal: undefined,
    warnings: [expect.stringContaining(`every user may replace files in ${path} (mode 777, no sticky bit)`)],
  })
})

async function serve(path: string) {
  const log = captureLog()
  const pluggable = await createPluggable({ folder: path, loggerOf: () => log })
  onTestFinished(() => pluggable.close())
  return log
}

it('serves in a folder that every user may write to, with a warning', async () => {
  const path = makeSocketFolder()
  chmodSync(path, 0o777)
  const log = await serve(path)
  expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([
    expect.objectContaining({ message: expect.stringContaining(`every user may replace files in ${path}`) }),
  ])
})

// Only root can give a folder away.
it.runIf(process.getuid?.() === 0)('serves in no folder of another user, nor by a link of his', async () => {
  const path = makeSocketFolder()
  const given = join(path, 'given')
  mkdirSync(given)
  chownSync(given, 4321, 4321)
  await expect(serve(given)).rejects.toThrow(`user 4321 owns ${given}`)
  mkdirSync(join(path, 'own'))
  const link = join(path, 'link')
  symlinkSync(join(path, 'own'), link)
  lchownSync(link, 4321, 4321)
  await expect(serve(link)).rejects.toThrow(`user 4321 owns ${link}`)
})
