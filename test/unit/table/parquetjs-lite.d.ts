declare module 'parquetjs-lite' {
  export class ParquetSchema {
    constructor(fields: Record<string, object>);
    readonly fieldList: { name: string }[];
  }
  export class ParquetWriter {
    static openFile(
      schema: ParquetSchema,
      path: string,
      options?: { rowGroupSize: number },
    ): Promise<ParquetWriter>;
    appendRow(row: object): Promise<void>;
    close(): Promise<void>;
  }
  export class ParquetReader {
    static openBuffer(bytes: Buffer): Promise<ParquetReader>;
    getRowCount(): { toString(): string };
    getCursor(columns?: string[]): { next(): Promise<object | null> };
    schema: ParquetSchema;
  }
}
