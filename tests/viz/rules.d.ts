// What minigrad/viz/pages.py writes in the place of js/rules.js.
import type { Tree } from "../../minigrad/viz/js/engine.js";
export const RULES: Record<string, { rule: Tree; form: string; partial?: string }[]>;
