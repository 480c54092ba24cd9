import type { CollectedSpan } from './collector.ts'

/**
 * Spans as lines of a tree. `└─` is a child. `└┄` is a span of another trace that links to the one above: the trace goes on there, because
 * between the two Event Grid has stored the event.
 */
export function traceTree(spans: readonly CollectedSpan[]): readonly string[] {
  const ordered = spans.toSorted((one, other) => Number(one.startTimeUnixNano - other.startTimeUnixNano))
  const below = (id: string) => [
    ...ordered.filter(({ parentSpanId }) => parentSpanId === id).map((span) => ({ span, sign: '└─' })),
    ...ordered.filter(({ links }) => links.some(({ spanId }) => spanId === id)).map((span) => ({ span, sign: '└┄' })),
  ]
  const known = new Set(spans.map(({ spanId }) => spanId))
  const isRoot = ({ parentSpanId, links }: CollectedSpan) =>
    !known.has(parentSpanId ?? '') && !links.some(({ spanId }) => known.has(spanId))
  const linesOf = (span: CollectedSpan, start: string, indent: string): string[] => [
    `${`${start}${span.name}`.padEnd(44)}${milliseconds(span)}  trace ${span.traceId.slice(0, 8)}`,
    ...below(span.spanId).flatMap((next) => linesOf(next.span, `${indent}${next.sign} `, `${indent}   `)),
  ]
  return ordered.filter(isRoot).flatMap((root) => linesOf(root, '', ''))
}

const milliseconds = ({ startTimeUnixNano, endTimeUnixNano }: CollectedSpan) =>
  `${(Number(endTimeUnixNano - startTimeUnixNano) / 1e6).toFixed(1)} ms`.padStart(10)
