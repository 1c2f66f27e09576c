/** `npm run test:long` repeats what is random or breaks often enough to look for new defects; `npm test` keeps a share of it. */
const IS_LONG = process.env['PARKWAY_TEST_LONG'] === 'true'

/** Returns the first value in `npm run test:long`, and the second in `npm test`. */
export function longOr<Value>(long: Value, short: Value): Value {
  return IS_LONG ? long : short
}
