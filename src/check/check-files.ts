import type { CheckedComponent, FileFindings } from './load-checked.ts'
import type { Check } from './run-checks.ts'

/** The checks of the files. Reading the files has made their findings. */
export function fileChecks({ files }: CheckedComponent): readonly Check[] {
  const one = (part: keyof FileFindings, needs: Check['needs']): readonly Check[] => {
    const finding = files[part]
    return finding ? [{ id: `files/${part}`, needs, run: () => finding }] : []
  }
  return [
    ...one('yaml', []),
    ...one('metadata', ['files/yaml']),
    ...one('secrets', ['files/yaml']),
    ...one('names', ['files/yaml']),
  ]
}
