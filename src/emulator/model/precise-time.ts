/**
 * A time with seven fraction digits, as Event Grid writes them into events and URLs.
 * @param at milliseconds since 1970
 */
export function preciseTime(at: number): string {
  return new Date(at).toISOString().replace('Z', '0000Z')
}
