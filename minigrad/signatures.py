"""The arguments of the functions whose arguments PyTorch reads itself, form by form; refusals.py reads them.

A line of names, then a line for each form that these functions have: the kind and name of each argument, with its default.
A `?` says that None will do, `ints1` that a single number stands for several; after `*` only names are taken. A method
leaves out `Tensor input` and `out`, `name_` has the forms of `name`. A `!` marks a form that PyTorch still takes, in silence.
`out` is `Tensor out=None`; OPTIONS are those of every function that makes a tensor.
"""

from __future__ import annotations

OPTIONS = (
    "dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False"
)

FORMS = """
abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh bitwise_not ceil
conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac i0 inverse isneginf isposinf
lgamma log log10 log1p log2 logical_not msort neg negative rad2deg reciprocal rsqrt sgn sigmoid sign signbit sin
sinc sinh special_digamma special_entr special_erf special_erfc special_erfcx special_erfinv special_exp2
special_expit special_expm1 special_gammaln special_i0 special_i0e special_i1 special_i1e special_log1p
special_log_ndtr special_ndtr special_ndtri special_psi special_sinc sqrt square tan tanh trunc
    Tensor input, *, out
arctan2 atan2 fmax fmin gcd hypot igamma igammac inner kron lcm ldexp linalg_matmul logaddexp logaddexp2 logical_and
logical_or logical_xor matmul maximum minimum mul nextafter special_gammainc special_gammaincc vdot
    Tensor input, Tensor other, *, out
adjoint argwhere conj corrcoef det fliplr flipud isfinite isinf isnan isreal linalg_matrix_exp logdet matrix_exp
positive ravel relu resolve_conj resolve_neg selu t trace zero_
    Tensor input
copysign eq fmod ge greater greater_equal gt le less less_equal lt ne not_equal
    Tensor input, Tensor other, *, out
    Tensor input, Number other, *, out
bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor remainder
    Tensor input, Tensor other, *, out
    Number self, Tensor other
    Tensor input, Number other, *, out
equal expand_as is_same_size reshape_as type_as view_as
    Tensor input, Tensor other
column_stack dstack hstack linalg_multi_dot row_stack vstack
    Tensors tensors, *, out
cat concat concatenate stack
    Tensors tensors, int dim=0, *, out
alpha_dropout dropout feature_alpha_dropout feature_dropout
    Tensor input, float p, bool train
max_pool1d max_pool1d_with_indices max_pool2d max_pool3d
    Tensor input, ints1 kernel_size, ints1 stride=None, ints1 padding=0, ints1 dilation=1, bool ceil_mode=False
special_xlog1py special_xlogy special_zeta xlogy
    Tensor input, Tensor other, *, out
    Number self, Tensor other, *, out
    Tensor input, Number other, *, out
adaptive_avg_pool1d adaptive_max_pool1d
    Tensor input, ints1 output_size
add sub
    Tensor input, Tensor other, *, Number alpha=1, out
    Tensor input, Number alpha, Tensor other, *, out !
addbmm
    Tensor input, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1, out
    Number beta, Tensor input, Number alpha, Tensor batch1, Tensor batch2, *, out !
    Number beta, Tensor input, Tensor batch1, Tensor batch2, *, out !
addcdiv addcmul
    Tensor input, Tensor tensor1, Tensor tensor2, *, Number value=1, out
    Tensor input, Number value, Tensor tensor1, Tensor tensor2, *, out !
addmm
    Tensor input, Tensor mat1, Tensor mat2, *, Number beta=1, Number alpha=1, out
    Tensor input, Tensor mat1, Tensor mat2, dtype out_dtype, *, Number beta=1, Number alpha=1, out
    Number beta, Tensor input, Number alpha, Tensor mat1, Tensor mat2, *, out !
    Number beta, Tensor input, Tensor mat1, Tensor mat2, *, out !
addmv
    Tensor input, Tensor mat, Tensor vec, *, Number beta=1, Number alpha=1, out
    Number beta, Tensor input, Number alpha, Tensor mat, Tensor vec, *, out !
    Number beta, Tensor input, Tensor mat, Tensor vec, *, out !
addr
    Tensor input, Tensor vec1, Tensor vec2, *, Number beta=1, Number alpha=1, out
    Number beta, Tensor input, Number alpha, Tensor vec1, Tensor vec2, *, out !
    Number beta, Tensor input, Tensor vec1, Tensor vec2, *, out !
all any
    Tensor input, *, out
    Tensor input, ints? dim=None, bool keepdim=False, *, out
    Tensor input, int dim, bool keepdim=False, *, out
allclose isclose
    Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False
amax amin
    Tensor input, ints1 dim=None, bool keepdim=False, *, out
aminmax
    Tensor input, *, int? dim=None, bool keepdim=False, Tensors2 out=None
arange
    Number end, *, out, OPTIONS
    Number start, Number end, *, OPTIONS
    Number start, Number end, Number step=1, *, out, OPTIONS
argmax argmin
    Tensor input, int? dim=None, bool keepdim=False, *, out
argsort
    Tensor input, *, bool stable, int dim=-1, bool descending=False, out
    Tensor input, int dim=-1, bool descending=False
as_strided
    Tensor input, ints size, ints stride, index? storage_offset=None
avg_pool1d
    Tensor input, ints1 kernel_size, ints1 stride=None, ints1 padding=0, bool ceil_mode=False, bool
        count_include_pad=True
avg_pool2d avg_pool3d
    Tensor input, ints1 kernel_size, ints1 stride=None, ints1 padding=0, bool ceil_mode=False, bool
        count_include_pad=True, int? divisor_override=None, *, out
baddbmm
    Tensor input, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1, out
    Tensor input, Tensor batch1, Tensor batch2, dtype out_dtype, *, Number beta=1, Number alpha=1, out
    Number beta, Tensor input, Number alpha, Tensor batch1, Tensor batch2, *, out !
    Number beta, Tensor input, Tensor batch1, Tensor batch2, *, out !
batch_norm
    Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float
        momentum, float eps, bool cudnn_enabled=True
bernoulli
    Tensor input, *, Generator? generator=None, out
    Tensor input, float p, *, Generator? generator=None
bernoulli_
    Tensor input, Tensor p, *, Generator? generator=None
    Tensor input, float p=0.5, *, Generator? generator=None
bilinear
    Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None
binary_cross_entropy_with_logits
    Tensor input, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1
bincount
    Tensor input, Tensor? weights=None, index minlength=0
bmm mm
    Tensor input, Tensor mat2, *, out
    Tensor input, Tensor mat2, dtype out_dtype, *, out
broadcast_to sum_to_size
    Tensor input, ints size
bucketize
    Tensor input, Tensor boundaries, *, bool out_int32=False, bool right=False, out
    Number self, Tensor boundaries, *, bool out_int32=False, bool right=False
cauchy_
    Tensor input, float median=0, float sigma=1, *, Generator? generator=None
celu
    Tensor input, Number alpha=1.0
channel_shuffle
    Tensor input, index groups
cholesky cholesky_inverse
    Tensor input, bool upper=False, *, out
cholesky_solve
    Tensor input, Tensor input2, bool upper=False, *, out
clamp clip
    Tensor input, Tensor? min=None, Tensor? max=None, *, out
    Tensor input, Number? min=None, Number? max=None, *, out
clamp_max
    Tensor input, Tensor max, *, out
    Tensor input, Number max, *, out
clamp_min
    Tensor input, Tensor min, *, out
    Tensor input, Number min, *, out
clone
    Tensor input, *, memory_format? memory_format=None
combinations
    Tensor input, int r=2, bool with_replacement=False
constant_pad_nd
    Tensor input, ints pad, Number value=0
conv1d conv2d conv3d
    Tensor input, Tensor weight, Tensor? bias=None, ints1 stride=1, ints1 padding=0, ints1 dilation=1, index
        groups=1
    Tensor input, Tensor weight, Tensor? bias=None, ints1 stride=1, str padding="valid", ints1 dilation=1, index
        groups=1
conv_transpose1d conv_transpose2d conv_transpose3d
    Tensor input, Tensor weight, Tensor? bias=None, ints1 stride=1, ints1 padding=0, ints1 output_padding=0, index
        groups=1, ints1 dilation=1
cosine_embedding_loss margin_ranking_loss
    Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1
cosine_similarity
    Tensor x1, Tensor x2, int dim=1, float eps=1e-08
count_nonzero
    Tensor input, int? dim=None
    Tensor input, ints dim
cov
    Tensor input, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None
cross
    Tensor input, Tensor other, int? dim=None, *, out
cross_entropy_loss
    Tensor input, Tensor target, Tensor? weight=None, int reduction=1, index ignore_index=-100, float
        label_smoothing=0.0
ctc_loss
    Tensor log_probs, Tensor targets, ints input_lengths, ints target_lengths, int blank=0, int
        reduction=at::Reduction::Mean, bool zero_infinity=False
    Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int
        reduction=at::Reduction::Mean, bool zero_infinity=False
cummax cummin
    Tensor input, int dim, *, Tensors2 out=None
cumprod cumsum
    Tensor input, int dim, *, dtype? dtype=None, out
cumulative_trapezoid trapezoid
    Tensor y, Tensor x, *, int dim=-1
    Tensor y, *, Number dx=1, int dim=-1
diag
    Tensor input, int diagonal=0, *, out
diag_embed
    Tensor input, int offset=0, int dim1=-2, int dim2=-1
diagflat
    Tensor input, int offset=0
diagonal
    Tensor input, int offset=0, int dim1=0, int dim2=1
diagonal_scatter
    Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1
diff
    Tensor input, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None, *, out
dist
    Tensor input, Tensor other, Number p=2
div
    Tensor input, Tensor other, *, out
    Tensor input, Tensor other, *, str? rounding_mode, out
    Tensor input, Number other, *, str? rounding_mode
divide
    Tensor input, Tensor other, *, out
    Tensor input, Tensor other, *, str? rounding_mode, out
    Tensor input, Number other
    Tensor input, Number other, *, str? rounding_mode
dot
    Tensor input, Tensor tensor, *, out
elu_
    Tensor input, Number alpha=1, Number scale=1, Number input_scale=1
embedding
    Tensor weight, Tensor indices, index padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False
empty
    ints size, *, memory_format? memory_format=None, out, OPTIONS
empty_like ones_like zeros_like
    Tensor input, *, memory_format? memory_format=None, OPTIONS
expand
    Tensor input, ints size, *, bool implicit=False
exponential_
    Tensor input, float lambd=1, *, Generator? generator=None
eye
    index n, *, out, OPTIONS
    index n, index m, *, out, OPTIONS
fill fill_
    Tensor input, Tensor value
    Tensor input, Number value
fill_diagonal_
    Tensor input, Number fill_value, bool wrap=False
flatten
    Tensor input, int start_dim=0, int end_dim=-1
frexp slogdet
    Tensor input, *, Tensors2 out=None
full
    ints size, Number fill_value, *, out, OPTIONS
full_like
    Tensor input, Number fill_value, *, memory_format? memory_format=None, OPTIONS
gather
    Tensor input, int dim, Tensor index, *, bool sparse_grad=False, out
gelu
    Tensor input, *, str approximate="none", out
geometric_
    Tensor input, float p, *, Generator? generator=None
glu
    Tensor input, int dim=-1, *, out
gradient
    Tensor input, *, ints dim, int edge_order=1
    Tensor input, *, Number spacing, ints dim, int edge_order=1
    Tensor input, *, Number? spacing=None, int? dim=None, int edge_order=1
    Tensor input, *, Numbers spacing, int? dim=None, int edge_order=1
    Tensor input, *, Numbers spacing, ints dim, int edge_order=1
    Tensor input, *, Tensors spacing, int? dim=None, int edge_order=1
    Tensor input, *, Tensors spacing, ints dim, int edge_order=1
group_norm
    Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True
hardshrink softshrink
    Tensor input, Number lambd=0.5, *, out
hardtanh
    Tensor input, Number min_val=-1, Number max_val=1, *, out
hardtanh_
    Tensor input, Number min_val=-1, Number max_val=1
heaviside
    Tensor input, Tensor values, *, out
hinge_embedding_loss
    Tensor input, Tensor target, float margin=1.0, int reduction=1
histc
    Tensor input, int bins=100, Number min=0, Number max=0, *, out
histogram
    Tensor input, Tensor bins, *, Tensor? weight=None, bool density=False, Tensors2 out=None
    Tensor input, int bins=100, *, floats? range=None, Tensor? weight=None, bool density=False, Tensors2 out=None
dsplit hsplit vsplit
    Tensor input, int sections
    Tensor input, ints indices
index_add
    Tensor input, int dim, Tensor index, Tensor source, *, Number alpha=1, out
index_copy
    Tensor input, int dim, Tensor index, Tensor source, *, out
index_fill
    Tensor input, int dim, Tensor index, Tensor value
    Tensor input, int dim, Tensor index, Number value
index_put
    Tensor input, Tensors indices, Tensor values, bool accumulate=False
index_reduce
    Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True, out
index_select
    Tensor input, int dim, Tensor index, *, out
instance_norm
    Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats,
        float momentum, float eps, bool cudnn_enabled=True
is_pinned
    Tensor input, device? device=None
isin
    Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, out
    Number element, Tensor test_elements, *, bool assume_unique=False, bool invert=False, out
    Tensor elements, Number test_element, *, bool assume_unique=False, bool invert=False, out
kl_div
    Tensor input, Tensor target, int reduction=1, *, bool log_target=False
kthvalue
    Tensor input, index k, int dim=-1, bool keepdim=False, *, Tensors2 out=None
layer_norm
    Tensor input, ints normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool
        cudnn_enable=True
leaky_relu_
    Tensor input, Number negative_slope=0.01
lerp
    Tensor input, Tensor end, Tensor weight, *, out
    Tensor input, Tensor end, Number weight, *, out
linalg_cholesky
    Tensor input, *, bool upper=False, out
linalg_cholesky_ex
    Tensor input, *, bool upper=False, bool check_errors=False, Tensors2 out=None
linalg_cond
    Tensor input, Number? p=None, *, out
    Tensor input, str p, *, out
linalg_cross
    Tensor input, Tensor other, *, int dim=-1, out
linalg_det linalg_inv
    Tensor A, *, out
linalg_diagonal
    Tensor A, *, int offset=0, int dim1=-2, int dim2=-1
linalg_eigh
    Tensor input, str UPLO="L", *, Tensors2 out=None
linalg_eigvalsh
    Tensor input, str UPLO="L", *, out
linalg_householder_product
    Tensor input, Tensor tau, *, out
linalg_inv_ex
    Tensor A, *, bool check_errors=False, Tensors2 out=None
linalg_lstsq
    Tensor input, Tensor b, float? rcond=None, *, str? driver=None, Tensors4 out=None
linalg_lu
    Tensor A, *, bool pivot=True, Tensors3 out=None
linalg_lu_factor
    Tensor A, *, bool pivot=True, Tensors2 out=None
linalg_lu_factor_ex
    Tensor A, *, bool pivot=True, bool check_errors=False, Tensors3 out=None
linalg_lu_solve
    Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False, out
linalg_matrix_norm
    Tensor input, Number ord, ints dim={-2,-1}, bool keepdim=False, *, dtype? dtype=None, out
    Tensor input, str ord="fro", ints dim={-2,-1}, bool keepdim=False, *, dtype? dtype=None, out
linalg_matrix_rank
    Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, out
    Tensor input, *, float? atol=None, float? rtol=None, bool hermitian=False, out
    Tensor input, Tensor tol, bool hermitian=False, *, out
    Tensor input, float tol, bool hermitian=False, *, out
linalg_norm
    Tensor input, Number? ord=None, ints1? dim=None, bool keepdim=False, *, dtype? dtype=None, out
    Tensor input, str ord, ints1? dim=None, bool keepdim=False, *, dtype? dtype=None, out
linalg_pinv
    Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, out
    Tensor input, *, float? atol=None, float? rtol=None, bool hermitian=False, out
    Tensor input, Tensor rcond, bool hermitian=False, *, out
    Tensor input, float rcond, bool hermitian=False, *, out
linalg_qr
    Tensor A, str mode="reduced", *, Tensors2 out=None
linalg_slogdet
    Tensor A, *, Tensors2 out=None
linalg_solve
    Tensor A, Tensor B, *, bool left=True, out
linalg_solve_ex
    Tensor A, Tensor B, *, bool left=True, bool check_errors=False, Tensors2 out=None
linalg_solve_triangular
    Tensor input, Tensor B, *, bool upper, bool left=True, bool unitriangular=False, out
linalg_svd
    Tensor A, bool full_matrices=True, *, str? driver=None, Tensors3 out=None
linalg_svdvals
    Tensor A, *, str? driver=None, out
linalg_tensorinv
    Tensor input, int ind=2, *, out
linalg_tensorsolve
    Tensor input, Tensor other, ints? dims=None, *, out
linalg_vander
    Tensor x, *, index? N=None
linalg_vecdot
    Tensor x, Tensor y, *, int dim=-1, out
linalg_vector_norm
    Tensor input, Number ord=2, ints1? dim=None, bool keepdim=False, *, dtype? dtype=None, out
linear
    Tensor input, Tensor weight, Tensor? bias=None, *, out
linspace
    Tensor start, Tensor end, int steps, *, out, OPTIONS
    Number start, Tensor end, int steps, *, out, OPTIONS
    Tensor start, Number end, int steps, *, out, OPTIONS
    Number start, Number end, int steps, *, out, OPTIONS
log_normal_
    Tensor input, float mean=1, float std=2, *, Generator? generator=None
log_softmax softmax
    Tensor input, int dim, dtype? dtype=None, *, out
logcumsumexp
    Tensor input, int dim, *, out
logit special_logit
    Tensor input, float? eps=None, *, out
logspace
    Tensor start, Tensor end, int steps, float base=10.0, *, out, OPTIONS
    Number start, Tensor end, int steps, float base=10.0, *, out, OPTIONS
    Tensor start, Number end, int steps, float base=10.0, *, out, OPTIONS
    Number start, Number end, int steps, float base=10.0, *, out, OPTIONS
logsumexp special_logsumexp
    Tensor input, ints1 dim, bool keepdim=False, *, out
lu_solve
    Tensor input, Tensor LU_data, Tensor LU_pivots, *, out
lu_unpack
    Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True, *, Tensors3 out=None
masked_fill
    Tensor input, Tensor mask, Tensor value
    Tensor input, Tensor mask, Number value
masked_scatter
    Tensor input, Tensor mask, Tensor source
masked_select
    Tensor input, Tensor mask, *, out
linalg_matrix_power matrix_power
    Tensor input, int n, *, out
max min
    Tensor input, *, out
    Tensor input, Tensor other, *, out
    Tensor input, int dim, bool keepdim=False, *, Tensors2 out=None
mean
    Tensor input, *, dtype? dtype=None, out
    Tensor input, ints1? dim, bool keepdim=False, *, dtype? dtype=None, out
median nanmedian
    Tensor input
    Tensor input, int dim, bool keepdim=False, *, Tensors2 out=None
mode
    Tensor input, int dim=-1, bool keepdim=False, *, Tensors2 out=None
moveaxis movedim
    Tensor input, int source, int destination
    Tensor input, ints source, ints destination
multi_margin_loss
    Tensor input, Tensor target, Number p=1, Number margin=1, Tensor? weight=None, int reduction=1, *, out
multilabel_margin_loss soft_margin_loss
    Tensor input, Tensor target, int reduction=1, *, out
multinomial
    Tensor input, index num_samples, bool replacement=False, *, Generator? generator=None, out
mv
    Tensor input, Tensor vec, *, out
mvlgamma special_multigammaln
    Tensor input, int p, *, out
nan_to_num
    Tensor input, float? nan=None, float? posinf=None, float? neginf=None, *, out
nanmean nansum
    Tensor input, ints1? dim=None, bool keepdim=False, *, dtype? dtype=None, out
narrow
    Tensor input, int dim, Tensor start, index length
    Tensor input, int dim, index start, index length
new_empty new_ones new_zeros
    Tensor input, ints size, *, OPTIONS
new_full
    Tensor input, ints size, Number fill_value, *, OPTIONS
nll_loss_nd
    Tensor input, Tensor target, Tensor? weight=None, int reduction=1, index ignore_index=-100
normal
    Tensor mean, Tensor std, *, Generator? generator=None, out
    Tensor mean, float std=1, *, Generator? generator=None, out
    float mean, Tensor std, *, Generator? generator=None, out
    float mean, float std, ints size, *, Generator? generator=None, out, OPTIONS
normal_
    Tensor input, float mean=0, float std=1, *, Generator? generator=None
nuclear_norm
    Tensor input, ints1 dim, bool keepdim=False, *, out
    Tensor input, bool keepdim=False, *, out
one_hot
    Tensor input, int num_classes=-1
ones zeros
    ints size, *, out, OPTIONS
orgqr
    Tensor input, Tensor input2, *, out
ger outer
    Tensor input, Tensor vec2, *, out
pad
    Tensor input, ints pad, str mode="constant", float? value=None
pairwise_distance
    Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False
pdist
    Tensor input, float p=2
flip permute tile
    Tensor input, ints dims
pinverse
    Tensor input, float rcond=1e-15
pixel_shuffle
    Tensor input, int upscale_factor
pixel_unshuffle
    Tensor input, int downscale_factor
poisson
    Tensor input, Generator? generator=None
poisson_nll_loss
    Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction
polygamma special_polygamma
    int n, Tensor input, *, out
float_power pow
    Tensor input, Tensor exponent, *, out
    Number self, Tensor exponent, *, out
    Tensor input, Number exponent, *, out
prelu
    Tensor input, Tensor weight
prod
    Tensor input, *, dtype? dtype=None
    Tensor input, int dim, bool keepdim=False, *, dtype? dtype=None, out
put
    Tensor input, Tensor index, Tensor source, bool accumulate=False
qr
    Tensor input, bool some=True, *, Tensors2 out=None
nanquantile quantile
    Tensor input, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear", out
    Tensor input, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear", out
rand randn
    ints size, *, Generator? generator, out, OPTIONS
    ints size, *, out, OPTIONS
rand_like randn_like
    Tensor input, *, Generator? generator, memory_format? memory_format=None, OPTIONS
    Tensor input, *, memory_format? memory_format=None, OPTIONS
randint
    index high, ints size, *, Generator? generator, out, OPTIONS
    index high, ints size, *, out, OPTIONS
    index low, index high, ints size, *, Generator? generator, out, OPTIONS
    index low, index high, ints size, *, out, OPTIONS
randint_like
    Tensor input, index low, index high, *, Generator? generator, memory_format? memory_format=None, OPTIONS
    Tensor input, index low, index high, *, memory_format? memory_format=None, OPTIONS
    Tensor input, Tensor high, *, Generator? generator, memory_format? memory_format=None, OPTIONS
    Tensor input, Tensor high, *, memory_format? memory_format=None, OPTIONS
    Tensor input, index high, *, Generator? generator, memory_format? memory_format=None, OPTIONS
    Tensor input, index high, *, memory_format? memory_format=None, OPTIONS
random_
    Tensor input, *, Generator? generator=None
    Tensor input, int from, int? to, *, Generator? generator=None
    Tensor input, int to, *, Generator? generator=None
randperm
    index n, *, Generator? generator, out, OPTIONS
    index n, *, out, OPTIONS
renorm
    Tensor input, Number p, int dim, Number maxnorm, *, out
repeat
    Tensor input, ints repeats
repeat_interleave
    Tensor input, Tensor repeats, int? dim=None, *, index? output_size=None
    Tensor repeats, *, index? output_size=None
    Tensor input, index repeats, int? dim=None, *, index? output_size=None
bool byte char double float half int long short
    Tensor input, *, memory_format? memory_format=None
nonzero
    Tensor input, *, bool as_tuple=False, out
to
    Tensor input, device? device=None, dtype? dtype=None, bool non_blocking=False, bool copy=False, *, memory_format?
        memory_format=None
    Tensor input, dtype dtype, bool non_blocking=False, bool copy=False, *, memory_format? memory_format=None
    Tensor input, Tensor tensor, bool non_blocking=False, bool copy=False, *, memory_format? memory_format=None
result_type
    Tensor tensor, Tensor other
    Number scalar, Tensor tensor
    Tensor tensor, Number other
    Number scalar1, Number scalar2
unique
    Tensor input, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? dim=None
unique_consecutive
    Tensor input, bool return_inverse=False, bool return_counts=False, int? dim=None
reshape
    Tensor input, ints shape
resize_
    Tensor input, ints size, *, memory_format? memory_format=None
resize_as_
    Tensor input, Tensor the_template, *, memory_format? memory_format=None
rms_norm
    Tensor input, ints normalized_shape, Tensor? weight=None, float? eps=None
roll
    Tensor input, ints1 shifts, ints1 dims=None
rot90
    Tensor input, int k=1, ints dims={0,1}
round
    Tensor input, *, out
    Tensor input, *, int decimals, out
rrelu
    Tensor input, Number lower=0.125, Number upper=0.3333333333333333, bool training=False, Generator?
        generator=None
rsub
    Tensor input, Tensor other, *, Number alpha=1
    Tensor input, Number other, Number alpha=1
scaled_dot_product_attention
    Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *,
        float? scale=None, bool enable_gqa=False
scatter
    Tensor input, int dim, Tensor index, Tensor src, *, out
    Tensor input, int dim, Tensor index, Tensor src, *, str reduce, out
    Tensor input, int dim, Tensor index, Number value, *, out
    Tensor input, int dim, Tensor index, Number value, *, str reduce, out
scatter_add
    Tensor input, int dim, Tensor index, Tensor src, *, out
scatter_reduce
    Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True, out
searchsorted
    Tensor sorted_sequence, Tensor input, *, bool out_int32=False, bool right=False, str? side=None, Tensor?
        sorter=None, out
    Tensor sorted_sequence, Number self, *, bool out_int32=False, bool right=False, str? side=None, Tensor?
        sorter=None, out
select
    Tensor input, int dim, index index
select_scatter
    Tensor input, Tensor src, int dim, index index
slice_scatter
    Tensor input, Tensor src, int dim=0, index? start=None, index? end=None, index step=1, *, out
softplus
    Tensor input, Number beta=1, Number threshold=20, *, out
sort
    Tensor input, *, bool? stable, int dim=-1, bool descending=False, Tensors2 out=None
    Tensor input, int dim=-1, bool descending=False, *, Tensors2 out=None
special_log_softmax
    Tensor input, int dim, *, dtype? dtype=None
special_round
    Tensor input, *, int decimals=0, out
special_softmax
    Tensor input, int dim, dtype? dtype=None
squeeze
    Tensor input
    Tensor input, int dim
    Tensor input, ints dim
std var
    Tensor input, ints1? dim, bool unbiased=True, bool keepdim=False, *, out
    Tensor input, ints1? dim=None, *, Number? correction=None, bool keepdim=False, out
    Tensor input, bool unbiased=True
std_mean var_mean
    Tensor input, ints1? dim, bool unbiased=True, bool keepdim=False
    Tensor input, ints1? dim=None, *, Number? correction=None, bool keepdim=False
    Tensor input, bool unbiased=True
subtract
    Tensor input, Tensor other, *, Number alpha=1, out
    Tensor input, Number other, Number alpha=1
sum
    Tensor input, *, dtype? dtype=None
    Tensor input, ints1? dim, bool keepdim=False, *, dtype? dtype=None, out
svd
    Tensor input, bool some=True, bool compute_uv=True, *, Tensors3 out=None
swapaxes
    Tensor input, int axis0, int axis1
take
    Tensor input, Tensor index, *, out
take_along_dim
    Tensor input, Tensor indices, int? dim=None, *, out
tensor_split
    Tensor input, ints indices, int dim=0
    Tensor input, Tensor tensor_indices_or_sections, int dim=0
    Tensor input, index sections, int dim=0
threshold
    Tensor input, Number threshold, Number value, *, out
topk
    Tensor input, index k, int dim=-1, bool largest=True, bool sorted=True, *, Tensors2 out=None
swapdims transpose
    Tensor input, int dim0, int dim1
trapz
    Tensor y, *, float dx=1, int dim=-1
    Tensor y, Tensor x, *, int dim=-1
triangular_solve
    Tensor input, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False, *, Tensors2 out=None
tril_indices triu_indices
    int row, int col, int offset=0, *, OPTIONS
triplet_margin_loss
    Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, float eps=1e-06, bool swap=False,
        int reduction=1
tril triu
    Tensor input, index diagonal=0, *, out
floor_divide multiply true_divide
    Tensor input, Tensor other, *, out
    Tensor input, Number other
unbind
    Tensor input, int dim=0
unfold
    Tensor input, int dimension, int size, int step
uniform_
    Tensor input, float from=0, float to=1, *, Generator? generator=None
chunk unsafe_chunk
    Tensor input, int chunks, int dim=0
unsafe_split
    Tensor input, index split_size, int dim=0
unsafe_split_with_sizes
    Tensor input, ints split_sizes, int dim=0
unsqueeze
    Tensor input, int dim
vander
    Tensor x, int? N=None, bool increasing=False
view
    Tensor input, dtype dtype
    Tensor input, ints size
where
    Tensor condition
    Tensor condition, Tensor input, Tensor other, *, out
    Tensor condition, Number self, Tensor other
    Tensor condition, Tensor input, Number other
    Tensor condition, Number self, Number other
"""
