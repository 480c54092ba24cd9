import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCheck } from '../sidecar/check/open-check.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { blocks, codeIn, readPage, rowsOf, section, tables } from './page.ts'

const page = readPage('docs/migration.md')
const [example = ''] = blocks(page, 'diff').map(({ value }) => value)
const [dummy = ''] = blocks(page, 'json').map(({ value }) => value)
const [command = ''] = blocks(page, 'sh').map(({ value }) => value)
const [report = ''] = blocks(page, 'text').map(({ value }) => value)

/** The component before or after the change: the lines of the example without those of the other side. */
function component(side: '-' | '+'): string {
  const other = side === '-' ? '+' : '-'
  const lines = example.split('\n').filter((line) => !line.startsWith(other))
  return lines.map((line) => line.slice(1)).join('\n')
}

/** Runs the page's `check` on a component in a folder of its own, on a free port in place of 8080. */
async function checkByThePage(yaml: string) {
  const folder = temporaryFolder()
  const port = String(await freePort())
  mkdirSync(join(folder, 'components'))
  writeFileSync(join(folder, 'components/orders.yaml'), yaml.replaceAll('8080', port))
  writeFileSync(join(folder, 'dummy.json'), dummy)
  const [, args = ''] = command.split('check ')
  const inFolder = args.split(' ').map((word) => (word.startsWith('--') ? word : join(folder, word)))
  const json = await runCheck([...inFolder, '--json'])
  const { code, text } = await runCheck(inFolder)
  return { code, said: json.said, text: text.replaceAll(`${folder}/`, '').replaceAll(port, '8080') }
}

it('shows what check says of the changed component, with dummy secrets', async () => {
  const { code, text } = await checkByThePage(component('+'))
  expect(code).toBe(0)
  expect(text.slice(0, report.length)).toBe(report)
})

it('shows a component in which check names each line that is to be changed', async () => {
  const { code, said } = await checkByThePage(component('-'))
  expect(code).toBe(1)
  const changes = ['name: tenantId', 'name: clientId', 'name: clientSecret', 'handshakePort must be a string']
  for (const change of changes) expect(said('files/metadata')).toContain(change)
})

it('lists as unchanged only fields that check knows', async () => {
  const rows = tables(section(page, 'Fields')).flatMap((table) => rowsOf(page, table))
  const fieldsThatAre = (fate: string) =>
    rows.filter(([here]) => here?.startsWith(fate)).flatMap(([, field = '']) => codeIn(field))
  const besideFields = ['secretKeyRef', 'auth', 'scopes']
  const unchanged = fieldsThatAre('unchanged').filter((name) => !besideFields.includes(name))
  expect(unchanged.length).toBeGreaterThan(12)

  const names = [...unchanged, ...fieldsThatAre('not supported')]
  const [head = ''] = component('+').split('    - name')
  const { said } = await checkByThePage(head + names.map((name) => `    - { name: ${name}, value: "x" }\n`).join(''))
  const unknown = [...said('files/metadata').matchAll(/"(\w+)" is not a field/g)].map(([, name]) => name)
  expect(unknown).toEqual(fieldsThatAre('not supported'))
})
