/** What a run makes, what Azure bills it by, and our own upper bound of that in cents. */

interface Price {
  readonly what: string
  readonly billedBy: string
  /** Ours, and rounded up well: no price of Azure. */
  readonly atMostCents: number
  readonly made: string
}

/** When the bounds were written. Azure's own pages have the prices. */
export const pricesOf = '2026-11'
export const pricePages = 'https://azure.microsoft.com/pricing/details/event-grid and .../storage/blobs'

export const prices: readonly Price[] = [
  {
    what: 'two custom topics, a domain, and those of single probes',
    billedBy: 'operations',
    atMostCents: 5,
    made: 'fewer than 10,000 operations',
  },
  {
    what: 'a namespace (Standard, one throughput unit)',
    billedBy: 'hours of a throughput unit, and operations',
    atMostCents: 40,
    made: 'two hours begun',
  },
  {
    what: 'a storage account (Standard_LRS) with a container and queues',
    billedBy: 'bytes and operations',
    atMostCents: 5,
    made: 'fewer than 10,000 operations, under 1 MB',
  },
]

export const totalCents = prices.reduce((sum, { atMostCents }) => sum + atMostCents, 0)

/** The table that is shown before anything is made. */
export function priceLines(): readonly string[] {
  const rows = prices.map(
    ({ what, billedBy, atMostCents, made }) => `  ${what}: by ${billedBy}; ${made}: ${atMostCents} cents`,
  )
  return [
    `Costs, at most ${totalCents} euro cents (our own bounds of ${pricesOf}, not Azure's prices; look those up):`,
    ...rows,
    `  Prices: ${pricePages}`,
    '  A namespace that is left over costs each hour until it is deleted.',
  ]
}
