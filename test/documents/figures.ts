/** A row of bench/RESULTS.md. */
interface Result {
  readonly ours: string
  readonly its: string
  readonly ratio: string
}

/** The rows of all tables in bench/RESULTS.md, by what was measured and beside what. Figures are medians, without their spread. */
function readResults(results: string): (what: string, peer: string) => Result {
  const rows = results
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.replace(/\(.*\)/, '').trim()))
  return (what, peer) => {
    const [, , ours, , its, ratio] = rows.find((cells) => cells[1] === what && cells[3] === peer) ?? []
    if (!ours || its === undefined || ratio === undefined)
      throw new Error(`bench/RESULTS.md has no row "${what}" with the peer "${peer}"`)
    return { ours, its, ratio }
  }
}

/** A row of a page with figures: it begins with `label`. */
interface FigureRow {
  readonly page: 'README.md' | 'docs/performance.md'
  readonly label: string
  readonly what: string
  readonly peer: string
  readonly line: (label: string, result: Result) => string
}

const link = '[performance](docs/performance.md)'
const beside =
  (name: string) =>
  (label: string, { ours, its, ratio }: Result) =>
    `| ${label} | ${ours} | ${name}: ${its} | ${ratio} |`
const alone = (label: string, { ours }: Result) => `| ${label} | ${ours} | | |`
const inReadme = (label: string, { ours, its }: Result) => `| ${label} | ${its} | ${ours} | ${link} |`

const goBinding = "Dapr's Go binding"
const builtIn = "Dapr's built-in binding"
const entra = { what: 'Entra token on each request', peer: `${goBinding}, Entra token` }
const throughDaprd = { what: 'create, 32 callers', peer: builtIn }

/** The rows that show figures of bench/RESULTS.md. */
export const figureRows: readonly FigureRow[] = [
  { page: 'README.md', label: 'deliveries with an Entra token, one core', ...entra, line: inReadme },
  { page: 'README.md', label: '`create` through daprd, 32 callers', ...throughDaprd, line: inReadme },
  ...[
    { label: 'deliveries with an Entra token', ...entra, line: beside(goBinding) },
    {
      label: 'deliveries with a delivery secret',
      ...{ what: 'delivery secret', peer: 'node:http floor', line: beside('bare `node:http` server') },
    },
    {
      label: 'deliveries in batches of 100',
      ...{ what: 'batches of 100', peer: 'ours, one by one', line: beside('one by one') },
    },
    { label: '`create`, 1 caller', what: 'create, 1 caller', peer: goBinding, line: beside(goBinding) },
    {
      label: '`create`, 256 callers',
      ...{ what: 'create, 256 callers', peer: `${goBinding}, many callers`, line: beside(goBinding) },
    },
    {
      label: 'delivery through daprd to the application',
      ...{ what: 'delivery to the application', peer: builtIn, line: beside('built-in binding') },
    },
    { label: '`create` through daprd, 32 callers', ...throughDaprd, line: beside('built-in binding') },
    { label: 'memory, idle', what: 'ours, idle', peer: '', line: alone },
    {
      label: 'memory after a million events',
      ...{ what: 'ours after 1,000,000 events', peer: 'ours after 200,000', line: beside('after 200,000') },
    },
  ].map((row) => ({ page: 'docs/performance.md' as const, ...row })),
]

/** A page with its figures brought up to date. */
export function withFigures(path: string, text: string, results: string): string {
  const resultOf = readResults(results)
  return figureRows
    .filter(({ page }) => page === path)
    .reduce((page, { label, what, peer, line }) => {
      const lines = page.split('\n')
      const at = lines.findIndex((one) => one.startsWith(`| ${label} |`))
      if (at < 0) throw new Error(`${path} has no row "${label}"`)
      return lines.with(at, line(label, resultOf(what, peer))).join('\n')
    }, text)
}
