{-# LANGUAGE DeriveFunctor #-}
-- What a compiler of hardware descriptions is made of: terms, types, a rewriting system, printers. It is compiled, not
-- run.
module Circuit (Term (..), Type (..), infer, normalise, netlist, render) where

import qualified Data.Map.Strict as Map
import Control.Monad (ap, forM, unless, when)
import Data.List (intercalate, nub, sortOn)
import Data.Maybe (fromMaybe, mapMaybe)

data Type = Bit | Vector Int Type | Product [Type] | Type :-> Type | Variable Int
  deriving (Eq, Ord, Show, Read)

infixr 5 :->

data Term
  = Name String
  | Literal Integer Int
  | Lambda String Type Term
  | Apply Term Term
  | Let [(String, Term)] Term
  | Case Term [(Pattern, Term)]
  | Primitive Operator [Term]
  deriving (Eq, Show, Read)

data Pattern = Exactly Integer | Bind String | Tuple [Pattern]
  deriving (Eq, Ord, Show, Read)

data Operator = And | Or | Xor | Not | Plus | Minus | Concat | Slice Int Int | Register
  deriving (Eq, Ord, Show, Read)

newtype Check a = Check {runCheck :: (Int, Map.Map Int Type) -> Either String (a, (Int, Map.Map Int Type))}
  deriving (Functor)

instance Applicative Check where
  pure x = Check (\s -> Right (x, s))
  (<*>) = ap

instance Monad Check where
  m >>= f = Check (\s -> runCheck m s >>= \(x, s') -> runCheck (f x) s')

failed :: String -> Check a
failed = Check . const . Left

fresh :: Check Type
fresh = Check (\(n, known) -> Right (Variable n, (n + 1, known)))

resolve :: Type -> Check Type
resolve t = Check (\s@(_, known) -> Right (go known t, s))
  where
    go known (Variable n) = maybe (Variable n) (go known) (Map.lookup n known)
    go known (Vector n e) = Vector n (go known e)
    go known (Product ts) = Product (map (go known) ts)
    go known (a :-> b) = go known a :-> go known b
    go _ Bit = Bit

unify :: Type -> Type -> Check ()
unify left right = do
  a <- resolve left
  b <- resolve right
  case (a, b) of
    _ | a == b -> pure ()
    (Variable n, t) -> when (occurs n t) (failed ("infinite type " ++ show t)) >> bind n t
    (t, Variable n) -> unify (Variable n) t
    (Vector n e, Vector m f) | n == m -> unify e f
    (Product xs, Product ys) | length xs == length ys -> sequence_ (zipWith unify xs ys)
    (x :-> y, z :-> w) -> unify x z >> unify y w
    _ -> failed ("no match: " ++ show a ++ " and " ++ show b)
  where
    bind n t = Check (\(next, known) -> Right ((), (next, Map.insert n t known)))
    occurs n (Variable m) = n == m
    occurs n (Vector _ e) = occurs n e
    occurs n (Product ts) = any (occurs n) ts
    occurs n (x :-> y) = occurs n x || occurs n y
    occurs _ Bit = False

infer :: Map.Map String Type -> Term -> Either String Type
infer scope term = fst <$> runCheck (check scope term >>= resolve) (0, Map.empty)

check :: Map.Map String Type -> Term -> Check Type
check scope term = case term of
  Name n -> maybe (failed ("unknown " ++ n)) pure (Map.lookup n scope)
  Literal value width -> do
    unless (value >= 0 && value < 2 ^ width) (failed (show value ++ " needs more bits"))
    pure (Vector width Bit)
  Lambda n t body -> (t :->) <$> check (Map.insert n t scope) body
  Apply f x -> do
    tf <- check scope f
    tx <- check scope x
    result <- fresh
    unify tf (tx :-> result)
    resolve result
  Let bindings body -> do
    ts <- forM bindings (\(n, _) -> (,) n <$> fresh)
    let inner = Map.union (Map.fromList ts) scope
    sequence_ [check inner t >>= unify v | ((_, t), (_, v)) <- zip bindings ts]
    check inner body
  Case scrutinee branches -> do
    t <- check scope scrutinee
    result <- fresh
    sequence_ [bound p t >>= \names -> check (Map.union names scope) b >>= unify result | (p, b) <- branches]
    resolve result
  Primitive op arguments -> mapM (check scope) arguments >>= operator op

bound :: Pattern -> Type -> Check (Map.Map String Type)
bound (Exactly _) _ = pure Map.empty
bound (Bind n) t = pure (Map.singleton n t)
bound (Tuple ps) t = do
  ts <- mapM (const fresh) ps
  unify t (Product ts)
  Map.unions <$> sequence (zipWith bound ps ts)

operator :: Operator -> [Type] -> Check Type
operator op ts = case (op, ts) of
  (Not, [t]) -> pure t
  (Register, [initial, next]) -> unify initial next >> resolve next
  (Slice high low, [t]) -> do
    v <- resolve t
    case v of
      Vector n e | high < n && low <= high -> pure (Vector (high - low + 1) e)
      _ -> failed ("slice of " ++ show v)
  (Concat, _) -> do
    vs <- mapM resolve ts
    widths <- forM vs (\v -> case v of Vector n Bit -> pure n; Bit -> pure 1; _ -> failed "concat")
    pure (Vector (sum widths) Bit)
  (_, [a, b]) -> unify a b >> resolve a
  _ -> failed (show op ++ " of " ++ show (length ts))

substitute :: String -> Term -> Term -> Term
substitute n new term = case term of
  Name m | m == n -> new
  Lambda m t body | m /= n -> Lambda m t (substitute n new body)
  Apply f x -> Apply (substitute n new f) (substitute n new x)
  Let bs body | n `notElem` map fst bs -> Let (map (fmap (substitute n new)) bs) (substitute n new body)
  Case s branches -> Case (substitute n new s) [(p, if n `elem` names p then b else inside b) | (p, b) <- branches]
  Primitive op xs -> Primitive op (map inside xs)
  _ -> term
  where
    inside = substitute n new

names :: Pattern -> [String]
names (Exactly _) = []
names (Bind n) = [n]
names (Tuple ps) = concatMap names ps

normalise :: Term -> Term
normalise term = let next = rewrite term in if next == term then term else normalise next

rewrite :: Term -> Term
rewrite term = case term of
  Apply (Lambda n _ body) x -> substitute n (rewrite x) body
  Apply f x -> Apply (rewrite f) (rewrite x)
  Lambda n t body -> Lambda n t (rewrite body)
  Let bs body
    | [] <- bs -> rewrite body
    | ((n, t) : _) <- filter (small . snd) bs ->
        Let (filter ((/= n) . fst) (map (fmap (substitute n t)) bs)) (substitute n t body)
    | otherwise -> Let (map (fmap rewrite) bs) (rewrite body)
  Case (Literal v _) branches -> fromMaybe term (lookup (Exactly v) branches)
  Case s branches -> Case (rewrite s) (map (fmap rewrite) branches)
  Primitive Not [Primitive Not [x]] -> rewrite x
  Primitive And [x, y] | x == y -> rewrite x
  Primitive Plus [Literal a n, Literal b m] | n == m -> Literal ((a + b) `mod` 2 ^ n) n
  Primitive op xs -> Primitive op (map rewrite xs)
  _ -> term
  where
    small (Name _) = True
    small (Literal _ _) = True
    small _ = False

data Gate = Gate {output :: String, function :: Operator, inputs :: [String]}
  deriving (Show, Eq, Ord)

netlist :: Term -> [Gate]
netlist term = sortOn output (nub (snd (go (0 :: Int) term)))
  where
    go n (Name m) = ((n, m), [])
    go n (Primitive op xs) =
      let step ((k, found), gates) x = let ((k', m), more) = go k x in ((k', found ++ [m]), gates ++ more)
          ((n', ins), before) = foldl step ((n, []), []) xs
          out = "net" ++ show n'
       in ((n' + 1, out), before ++ [Gate out op ins])
    go n (Let bs body) =
      let parts = [snd (go (n + 1000 * i) t) | (i, (_, t)) <- zip [1 ..] bs]
          (result, more) = go n body
       in (result, concat parts ++ more)
    go n _ = ((n + 1, "const" ++ show n), [])

render :: [Gate] -> String
render gates = intercalate "\n" (map assign gates ++ mapMaybe clocked gates)
  where
    assign (Gate o f ins) = "  assign " ++ o ++ " = " ++ symbol f ins ++ ";"
    clocked (Gate o Register [_, next]) = Just ("  always @(posedge clk) " ++ o ++ " <= " ++ next ++ ";")
    clocked _ = Nothing
    symbol Not [x] = "~" ++ x
    symbol (Slice h l) [x] = x ++ "[" ++ show h ++ ":" ++ show l ++ "]"
    symbol Concat xs = "{" ++ intercalate ", " xs ++ "}"
    symbol f xs = intercalate (operation f) xs
    operation f = fromMaybe " ? " (lookup f [(And, " & "), (Or, " | "), (Xor, " ^ "), (Plus, " + "), (Minus, " - ")])
