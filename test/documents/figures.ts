// Which rows of README.md and docs/performance.md have figures of bench/RESULTS.md: a row is found by its own words.

/** The pages with such rows. */
export const pagesWithFigures = ['README.md', 'docs/performance.md'] as const

/** The cells of a row of a table in Markdown. */
const cells = (line: string) => line.split('|').map((cell) => cell.trim())

/** A row of bench/RESULTS.md; its figures are medians, without their spread. */
function resultsOf(results: string) {
  const rows = results
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => cells(line.replaceAll(/ \([^|]*\)/g, '')))
  return (what: string, isPeer: (peer: string) => boolean) => {
    const found = rows.find((row) => row[1] === what && isPeer(row[3] ?? ''))
    if (!found) throw new Error(`bench/RESULTS.md has no row "${what}" with the peer that the page names`)
    const [, , ours = '', peer = '', its = '', ratio = ''] = found
    return { ours, peer, its, ratio }
  }
}

/** A page with its figures brought up to date. */
export function withFigures(text: string, results: string): string {
  const resultOf = resultsOf(results)
  let compared = false
  const lines = text.split('\n').map((line) => {
    const [, what = '', , third = '', link = ''] = cells(line)
    compared = line.startsWith('|') && (compared || third === 'compared with')
    if (link === '[performance](docs/performance.md)') {
      const { ours, its } = resultOf(what, (peer) => peer.startsWith("Dapr's"))
      return `| ${what} | ${its} | ${ours} | ${link} |`
    }
    if (!compared || third === 'compared with' || what.startsWith('---')) return line
    const { ours, peer, its, ratio } = resultOf(what, (peer) => peer === third.split(': ', 1)[0])
    return `| ${[what, ours, ...(peer ? [`${peer}: ${its}`, ratio] : ['', ''])].join(' | ')} |`
  })
  return lines.join('\n')
}
