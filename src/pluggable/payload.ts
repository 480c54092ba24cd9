const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The payload of an `Invoke`, which is always bytes: text where they are UTF-8. Who calls Dapr by HTTP gives JSON, and Dapr hands that JSON
 * over: a text comes with its quotes, and nothing as `null`. So a JSON text, number, boolean or `null` is what it stands for, but for a number
 * that JavaScript would round. Objects and arrays are left to the binding, which takes them as they are written.
 */
export function invokePayload(data: Buffer): unknown {
  if (data.length === 0) return data
  let text: string
  try {
    text = utf8.decode(data)
  } catch {
    return data
  }
  // A quote, a digit or minus sign, and how true, false and null begin.
  if (!/^["\d\-tfn]/.test(text)) return text
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'number' && String(value) !== text ? text : value
  } catch {
    return text
  }
}
