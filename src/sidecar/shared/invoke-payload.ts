/** The data of Dapr's `Invoke` as a payload of `create`. */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The payload of an `Invoke`: bytes that are UTF-8 become text. Callers of Dapr's HTTP API send JSON, and Dapr passes it on: a string with
 * its quotes, no data as `null`. So a JSON string, number, boolean or `null` is parsed, except a number that JavaScript would round.
 * Objects and arrays stay text: the binding parses them without loss.
 */
export function invokePayload(data: Buffer): unknown {
  if (data.length === 0) return data
  let text: string
  try {
    text = utf8.decode(data)
  } catch {
    return data
  }
  // The first characters of a string, a number, true, false and null.
  if (!/^["\d\-tfn]/.test(text)) return text
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'number' && String(value) !== text ? text : value
  } catch {
    return text
  }
}
