interface ResultTable {
  row(...cells: (string | number | undefined)[]): void;
}

interface Results {
  table(id: string, columns: readonly string[], title?: string): ResultTable;
  save(): Promise<void>;
}

export function openResults(bench: string): Results;
