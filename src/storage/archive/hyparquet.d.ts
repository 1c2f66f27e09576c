/** What is used of hyparquet and its writer. Their own types take any value for a row. */
declare module 'hyparquet' {
  interface SchemaElement {
    readonly name: string
    readonly num_children?: number
    readonly type?: 'INT32' | 'INT64' | 'BYTE_ARRAY'
    readonly converted_type?: 'UTF8' | 'TIMESTAMP_MICROS'
    readonly logical_type?: {
      readonly type: 'TIMESTAMP'
      readonly isAdjustedToUTC: boolean
      readonly unit: 'MICROS'
    }
    readonly repetition_type?: 'REQUIRED' | 'OPTIONAL'
  }
  interface Statistics {
    readonly min_value?: unknown
    readonly max_value?: unknown
  }
  interface ColumnChunk {
    readonly meta_data?: { readonly path_in_schema: readonly string[]; readonly statistics?: Statistics }
  }
  interface RowGroup {
    readonly columns: readonly ColumnChunk[]
    readonly num_rows: bigint
  }
  export interface FileMetaData {
    readonly num_rows: bigint
    readonly row_groups: readonly RowGroup[]
  }
  export interface AsyncBuffer {
    readonly byteLength: number
    slice(start: number, end?: number): Promise<ArrayBuffer>
  }
  interface Parsers {
    readonly timestampFromMicroseconds: (micros: bigint) => unknown
  }
  export function parquetMetadataAsync(
    file: AsyncBuffer,
    options: { readonly parsers: Parsers },
  ): Promise<FileMetaData>
  export function parquetReadObjects(options: {
    readonly file: AsyncBuffer
    readonly metadata: FileMetaData
    readonly rowStart: number
    readonly rowEnd: number
    readonly parsers: Parsers
  }): Promise<Record<string, unknown>[]>
}

declare module 'hyparquet-writer' {
  import type { SchemaElement } from 'hyparquet'
  interface ColumnSource {
    readonly name: string
    readonly data: readonly unknown[]
    readonly statistics?: boolean
    readonly offsetIndex?: boolean
  }
  export class ByteWriter {
    /** The length of what is in the buffer. Set to 0 when that was taken. */
    index: number
    getBytes(): Uint8Array
  }
  export class ParquetWriter {
    constructor(options: {
      readonly writer: ByteWriter
      readonly schema: readonly SchemaElement[]
      readonly kvMetadata: readonly { readonly key: string; readonly value: string }[]
      readonly createdBy: string
      readonly statisticsTruncateLength: number
    })
    write(options: { readonly columnData: readonly ColumnSource[]; readonly rowGroupSize: number }): void
    finish(): void
  }
}
